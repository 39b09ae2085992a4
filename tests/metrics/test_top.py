"""`hamlet top`: one look, for programs, and live on a terminal."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hamlet.cli import app
from hamlet.job import job_registry
from metrics.example_job import after_epoch, collector, replanned
from runtime.metrics.http_server import MetricsServer
from tools.patience import PATIENCE_S

QUERIES = ("one", "two", "three")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def hub() -> Iterator[MetricsServer]:
    found = MetricsServer()
    yield found
    found.close()


def top(*arguments: str):
    return CliRunner().invoke(app, ["top", *arguments])


def test_one_look_where_nobody_watches(hub: MetricsServer):
    kept = collector(QUERIES, "ray")
    hub.update(
        replanned(after_epoch(kept, 0, QUERIES, late=2, invalid_rows={"no time": 3}), 1.0, "rates")
    )
    shown = top("--url", hub.url)
    assert shown.exit_code == 0, shown.output
    assert "made  running, engine ray, 3 queries, since " in shown.output
    names, values = (re.split(r" {2,}", line.strip()) for line in shown.output.splitlines()[1:4:2])
    now = dict(zip(names, values, strict=True))
    assert now["epoch"] == "0"
    assert now["events"] == "1,000"
    assert now["results"] == "12"
    assert (now["late"], now["invalid"]) == ("2", "3")
    assert "three" in shown.output
    assert "a burst of 5 B: queries differed on 3 of them" in shown.output
    assert "new plan" in shown.output
    assert "\x1b" not in shown.output


def test_for_programs(hub: MetricsServer):
    hub.update(after_epoch(collector(QUERIES), 0, QUERIES))
    shown = top("--url", hub.url.removeprefix("http://"), "--format", "json")
    assert json.loads(shown.output)["events"] == 1_000


def test_a_job_that_is_starting(hub: MetricsServer):
    assert top("--url", hub.url, "--once").output == "the job is starting\n"


def test_a_job_is_found_by_its_name(
    hub: MetricsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path))
    hub.update(after_epoch(collector(QUERIES), 0, QUERIES))
    job = job_registry.Job("rides", os.getpid(), "127.0.0.1:6379", hub=hub.url)
    with job_registry.registered(job):
        assert "1,000" in top("--job", "rides").output
        assert "1,000" in top().output
        wrong = top("--job", "ride")
        assert wrong.exit_code == 1
        assert "did you mean `rides`?" in wrong.output
    assert "no job is running" in top().output


def test_terminals_are_not_steered(hub: MetricsServer):
    bad = ("evil\x1b[2J", "two", "three")
    hub.update(after_epoch(collector(bad), 0, bad))
    assert "\x1b" not in top("--url", hub.url).output


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:9", "no answer from http://127.0.0.1:9"),
        ("file:///etc/passwd", "is not the address of a live page"),
    ],
)
def test_a_wrong_address(url: str, said: str):
    shown = top("--url", url)
    assert shown.exit_code == 1
    assert said in shown.output


def test_something_else_that_answers(hub: MetricsServer):
    shown = top("--url", f"{hub.url}/metrics?")
    assert shown.exit_code == 1
    assert "error" in shown.output


def test_live_until_ctrl_c(hub: MetricsServer):
    kept = collector(QUERIES)
    hub.update(after_epoch(kept, 0, QUERIES))
    parent, child = pty.openpty()
    code = "from hamlet.cli import main; main()"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen(
        [sys.executable, "-c", code, "top", "--url", hub.url],
        stdin=child,
        stdout=child,
        stderr=child,
        env=env,
        start_new_session=True,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509
    )
    os.close(child)
    try:
        assert "1,000" in _until(parent, "1,000")
        hub.update(after_epoch(kept, 1, QUERIES))
        assert "2,000" in _until(parent, "2,000")
        process.send_signal(signal.SIGINT)
        rest = _until(parent, "\0")
        assert process.wait(PATIENCE_S) == 0
        assert "interrupted" not in rest
        assert "Traceback" not in rest
    finally:
        process.kill()
        process.wait()
        os.close(parent)


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _until(terminal: int, wanted: str) -> str:
    """What is on the terminal until it has some text, or ends."""
    found, deadline = "", time.monotonic() + PATIENCE_S
    while wanted not in found and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 65_536)
            except OSError:  # nobody has the other end any more
                break
            if not piece:
                break
            found += piece.decode(errors="replace")
    return found
