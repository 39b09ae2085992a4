"""Names that are not UTF-8, as a file or an option may have."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from cli.conftest import QUERY
from tools.patience import PATIENCE_S

ROW = b"1,Travel,20\n"


def test_a_query_file_may_have_any_name(folder: Path, process: Callable[..., Any]):
    """It names the job, which metrics have as text."""
    (folder / os.fsdecode(b"caf\xe9.sase")).write_text(QUERY)
    job = process(
        "run", b"caf\xe9.sase", "--input", "-", "--input-format", "csv", "--metrics-port", "0"
    )
    job.stdin.write(b"time,type,speed\n" + ROW * 500_000)
    url = next(line for line in job.stderr if b"live page" in line).split()[-1].decode()
    assert r'hamlet_job="caf\\xe9"' in urlopen(f"{url}/metrics").read().decode()
    _, err = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 0, err


def test_the_name_of_a_job_is_text(hamlet: Callable[..., Any]):
    result = hamlet("run", "ride.sase", "--input", "ride.csv", "--name", os.fsdecode(b"caf\xe9"))
    assert result.exit_code == 1
    assert r"--name caf\xe9 is not UTF-8" in result.stderr


def test_an_input_with_such_a_name_is_refused(folder: Path, hamlet: Callable[..., Any]):
    name = os.fsdecode(b"\xff.csv")
    (folder / "ride.csv").rename(folder / name)
    result = hamlet("run", "ride.sase", "--input", name)
    assert result.exit_code == 1
    assert result.stderr == (
        "error: cannot read \\xff.csv: its name is not UTF-8\nhint: rename it\n"
    )


def test_a_folder_with_such_names_is_read_without_them(folder: Path, hamlet: Callable[..., Any]):
    (folder / "in").mkdir()
    (folder / "ride.csv").rename(folder / "in" / "ride.csv")
    (folder / "in" / os.fsdecode(b"\xff.jsonl")).write_text("no JSON\n")
    result = hamlet("run", "ride.sase", "--input", "in", "--output", "out")
    assert result.exit_code == 0, result.stderr
    said = r"warning: \xff.jsonl is skipped: the name is not UTF-8; rename it"
    assert said in result.stderr.splitlines()
