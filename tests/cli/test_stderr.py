"""Standard error whose reader has gone away: nothing is printed, and nothing else changes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hamlet.cli.stderr import Notices

ROOT = Path(__file__).parents[2]
WARNS = """
import sys, threading
from hamlet.cli.stderr import Notices
notices = Notices()
sys.stdin.readline()
def warn() -> None:
    for _ in range(3):
        notices.warn("a router is stopped")
    print("the thread goes on", flush=True)
{run}
print("row 1", flush=True)
"""
IN_A_THREAD = "thread = threading.Thread(target=warn); thread.start(); thread.join()"


def closed_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("run", ["warn()", IN_A_THREAD])
def test_the_reader_goes_away(run):
    done = subprocess.run(
        [sys.executable, "-c", WARNS.format(run=run)],
        input="\n",
        stdout=subprocess.PIPE,
        stderr=closed_pipe(),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "the thread goes on\nrow 1\n")


def test_a_run_goes_on(process):
    """It has a notice to print, and rows."""
    done = process(
        "run", "ride.sase", "--input", "ride.csv", "--format", "json", stderr=closed_pipe()
    )
    out, _ = done.communicate()
    assert (done.returncode, out.count(b"\n")) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "code"), [(("check", "none.sase"), 1), (("check", "ride.sase"), 0)]
)
def test_the_exit_code_stays(process, arguments, code):
    done = process(*arguments, stderr=closed_pipe())
    done.communicate()
    assert done.returncode == code


def test_a_failure_of_ours(process):
    """Its exit code is not that of an error of the user, even if nobody reads its message."""
    done = process(
        *("run", "ride.sase", "--input", "ride.csv", "--format", "json"),
        stdout=os.open("/dev/full", os.O_WRONLY),
        stderr=closed_pipe(),
    )
    done.communicate()
    assert done.returncode == 2


def test_lines_on_standard_error(capsys):
    Notices().warn("a router\nis stopped")
    assert capsys.readouterr().err == "warning: a router\\nis stopped\n"
