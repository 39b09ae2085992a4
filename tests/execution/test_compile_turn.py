"""Processes that compile take turns, but none waits forever for another."""

import signal
import subprocess
import sys
import threading

import pytest

from runtime.cache_dir import cache_of
from runtime.execution import compile_worker
from runtime.execution.compile_worker import compile_turn
from tools.patience import PATIENCE_S

HOLDER = """
import fcntl, sys, time
turn = open(sys.argv[1], "w")
fcntl.flock(turn, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(1000)
"""


@pytest.fixture
def holder(tmp_path, monkeypatch):
    """A process whose turn it is."""
    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path))
    lock = cache_of("kernels") / "compiling.lock"
    command = [sys.executable, "-c", HOLDER, lock]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_turn_of_a_stopped_process_has_an_end(holder, monkeypatch):
    monkeypatch.setattr(compile_worker, "TURN_SECONDS", 0.2)
    holder.send_signal(signal.SIGSTOP)
    with compile_turn(niceness=0):
        assert holder.poll() is None


def test_the_next_one_waits(holder):
    entered = threading.Event()

    def enter():
        with compile_turn(niceness=0):
            entered.set()

    thread = threading.Thread(target=enter)
    thread.start()
    assert not entered.wait(0.5)
    holder.kill()
    assert entered.wait(PATIENCE_S)
    thread.join()
