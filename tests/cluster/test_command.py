"""`hamlet run` as a user types it, on a Ray and a Spark of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cluster.streams import pieces, rides, write_csv, write_parquet
from hamlet.job import job_registry
from runtime.errors import HamletError
from tools.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
QUERIES = """QUERY by_driver
RETURN driver, COUNT(*) AS n, SUM(T.speed) AS s
PATTERN SEQ(Request R, Travel T+)
GROUP-BY driver
WITHIN 60 seconds SLIDE 20 seconds

QUERY nothing
RETURN COUNT(*) AS n
PATTERN SEQ(Request, Travl)
WITHIN 1 minute
"""


def hamlet(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    code = "from hamlet.cli import main; main()"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def test_ray_is_the_default_and_writes_what_local_writes(tmp_path: Path):
    first, second = pieces(rides(2_000, seed=1), 2)
    (tmp_path / "rides").mkdir()
    write_parquet(first, tmp_path / "rides" / "1.parquet")
    write_csv(second, tmp_path / "rides" / "2.csv")
    with (tmp_path / "rides" / "2.csv").open("a") as file:
        file.write("soon,Travel,driver 1,1,5\n")
    (tmp_path / "queries.sase").write_text(QUERIES)
    given = ("run", "queries.sase", "--input", "rides", "--output")
    done = [
        hamlet(tmp_path, *given, "ray"),
        hamlet(tmp_path, *given, "local", "--engine", "local"),
    ]
    assert [each.returncode for each in done] == [0, 0], done[0].stderr + done[1].stderr
    assert [each.stdout for each in done] == ["", ""]
    for each in done:
        assert "2,000 events of 2,001 rows in " in each.stderr
        assert "1 row could not be used" in each.stderr
        assert "no event has the type `Travl` of nothing; did you mean `Travel`?" in each.stderr
    files = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("ray", "local")]
    there = ["_dead_letter", "_run.jsonl", "by_driver.parquet", "nothing.parquet"]
    assert files[0] == files[1] == there
    for name in ("by_driver.parquet", "nothing.parquet", "_dead_letter"):
        ray, local = (pq.read_table(tmp_path / engine / name) for engine in ("ray", "local"))
        assert ray.equals(local), name
    assert json.loads(local["event"][0].as_py())["time"] == "soon"


def test_a_job_is_known_before_it_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It waits for a first file, before it starts anything else."""
    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path / "cache"))
    (tmp_path / "queries.sase").write_text(QUERIES)
    (tmp_path / "incoming").mkdir()
    code = "from hamlet.cli import main; main()"
    command = [sys.executable, "-c", code, "run", "queries.sase", "--input", "incoming", "--follow"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.DEVNULL) as running:
        until = time.monotonic() + 300
        while not job_registry.running() and time.monotonic() < until:
            time.sleep(0.1)
        with pytest.raises(HamletError, match="`queries` is still starting"):
            job_registry.find(None)
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE_S) == 130
    assert not job_registry.running()
