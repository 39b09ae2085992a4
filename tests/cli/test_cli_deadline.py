"""A process that is to stop and cannot is ended by force, with all that it started."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cluster import proc
from hamlet.cli import deadline
from tools.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
# The main thread is in C for hours: no handler of Python runs, and no exception is raised there.
STUCK = """
import hashlib, signal, subprocess
from hamlet.cli.deadline import Deadline
signal.signal(signal.SIGTERM, lambda *_: None)
signal.signal(signal.SIGINT, lambda *_: None)
def kept(): return "epoch 7 was committed"
{before}
deadline = Deadline(kept, grace=0.5)
deadline.watch_signals()
child = subprocess.Popen(["sleep", "1000"])
print(child.pid, flush=True)
{more}
hashlib.pbkdf2_hmac("sha256", b"x", b"y", 2_000_000_000)
"""


def stuck(more: str = "", before: str = "", **env: str) -> tuple["subprocess.Popen[str]", int]:
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK.format(more=more, before=before)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def await_end(pid: int) -> None:
    """A killed process ends when it is next scheduled."""
    until = time.monotonic() + PATIENCE_S
    while proc.alive(pid):
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_that_no_handler_receives(number):
    process, child = stuck()
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number
    assert err == (
        "the job did not stop within 0.5 s; it was ended by force\nepoch 7 was committed\n"
    )
    assert out == ""
    await_end(child)


def test_lost_process():
    process, child = stuck("deadline.start(0.1, 2, lambda: 'error: it has died')")
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert err == "error: it has died\n"
    await_end(child)


def test_submitted_job_logs_its_exit_code():
    process, _ = stuck(HAMLET_JOB_MARK="mark")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert out == "mark 143\n"


@pytest.mark.parametrize(
    ("given", "seconds"), [(None, 60.0), ("30", 28.0), ("3", 1.5), ("soon", 60.0)]
)
def test_grace_time(monkeypatch, given, seconds):
    """The job ends before Ray kills it."""
    monkeypatch.delenv(deadline.RAY_GRACE, raising=False)
    if given is not None:
        monkeypatch.setenv(deadline.RAY_GRACE, given)
    assert deadline.grace_seconds() == seconds


FAILING = "def fail(): raise LookupError('no such epoch')"


@pytest.mark.parametrize("text", ["fail", "lambda: 'half a character: ' + chr(0xd800)"])
def test_a_last_line_that_cannot_be_printed(text: str):
    process, child = stuck(f"{FAILING}\ndeadline.start(0.1, 2, {text})")
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "LookupError: no such epoch" in err or "half a character: \\ud800" in err
    await_end(child)


def test_what_was_kept_is_not_known():
    process, child = stuck(before=f"{FAILING}; kept = fail".replace("; kept", "\nkept"))
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 143
    assert err.startswith("the job did not stop within 0.5 s; it was ended by force\n")
    await_end(child)


def test_the_earliest_counts():
    process, _ = stuck(
        "deadline.start(0.2, 3, lambda: 'first')\ndeadline.start(1000, 4, lambda: 'second')"
    )
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3


def test_a_deadline_that_was_met():
    """It was withdrawn long before its time, and that time has passed since."""
    process, _ = stuck(
        "deadline.withdraw(deadline.start(1000, 3, lambda: 'closed in time'))\n"
        "passed = 2000\n"
        "deadline.start(0.1, 4, lambda: 'later')",
        before="import time; passed, real = 0, time.monotonic\n"
        "time.monotonic = lambda: real() + passed",
    )
    _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (4, "later\n")
