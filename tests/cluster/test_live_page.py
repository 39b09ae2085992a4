"""A job on Ray, looked at while it runs: its page, `hamlet top`, and its report."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.browser import seen, until
from tools.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
RIDES = ROOT / "examples" / "sharing" / "workload.sase"
CODE = "from hamlet.cli import main; main()"
JOB = "looked-at"


def hamlet(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", CODE, *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


def test_a_job_is_looked_at(browser: Any, tmp_path: Path):
    command = [sys.executable, "-c", CODE, "run", str(RIDES), "--follow", "--name", JOB]
    command += ["--input", "generate:ridesharing?events=5000000&seed=1&pace=20000"]
    command += ["--output", str(tmp_path / "results")]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=env,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed,  # noqa: PLW1509
    ) as job:
        try:
            assert job.stderr is not None
            url = next((line for line in job.stderr if "live page" in line), "").split()[-1]
            look(browser, url)
            ask_top()
        finally:
            job.send_signal(signal.SIGINT)
        job.communicate(timeout=PATIENCE_S)
    assert until(lambda: "no answer" in seen(browser, "#state")[0])
    browser.get("about:blank")

    made = hamlet("report", str(tmp_path / "results"), "-o", str(tmp_path / "report.html"))
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "report.html").read_text()
    for stage in ("spark", "hand-over", "compute", "merge", "sink"):
        assert f"<td>{stage}</td>" in text


def look(browser: Any, url: str) -> None:
    browser.get(url)
    assert until(lambda: len(seen(browser, "#log li")) > 2)
    assert "engine ray, 6 queries" in seen(browser, "#since")[0]
    assert "Travel" in seen(browser, "#template .name")
    lit = "#template .arrow.lit[data-into=Travel]"
    assert until(lambda: browser.find_elements("css selector", lit))
    assert seen(browser, "#actors tbody td:first-child") == ["0", "1"]
    stages = set(seen(browser, "#stages tbody td:first-child"))
    assert stages == {"spark", "hand-over", "compute", "merge", "sink", "checkpoint"}
    browser.find_element("css selector", "#log li > button").click()
    assert re.search(r"A burst of \d+ events? of type Travel", seen(browser, "#log .why")[0])
    latency = "#queries tbody tr:first-child td:nth-child(5)"
    assert until(lambda: re.fullmatch(r"[\d.]+ (ms|s)", (seen(browser, latency) or [""])[0]))


def ask_top() -> None:
    shown = hamlet("top", "--job", JOB, "--once")
    assert shown.returncode == 0, shown.stderr
    assert f"{JOB}  running, engine ray, 6 queries" in shown.stdout
    assert "Travel" in shown.stdout


@pytest.fixture(autouse=True)
def nothing_else_runs() -> None:
    """A Ray of its own beside that of the other tests is fine, a job of the same name is not."""
    from hamlet.job import job_registry

    assert JOB not in [job.name for job in job_registry.running()]


def _heed() -> None:
    """Tests in the background of a shell are started deaf to Ctrl-C, and so are their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
