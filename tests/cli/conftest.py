"""What the tests of the command line share: a small ride, and two ways to run the command."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hamlet.cli import app

EVENTS = "time,type,speed\n1,Request,\n2,Travel,10\n3,Travel,20\n4,Dropoff,\n"
QUERY = """QUERY ride
RETURN COUNT(*) AS n, SUM(T.speed) AS total
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WITHIN 10 minutes
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with `ride.sase` and `ride.csv`."""
    (tmp_path / "ride.sase").write_text(QUERY)
    (tmp_path / "ride.csv").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_process(arguments: tuple[str, ...]) -> list[str]:
    """A run needs no cluster if its test asks for no engine. tests/cluster has those that do."""
    chosen = () if "--engine" in arguments else ("--engine", "local")
    return [*arguments, *(chosen if "run" in arguments[:1] else ())]


@pytest.fixture
def hamlet(folder: Path) -> Callable[..., Result]:
    """`hamlet("run", "ride.sase")` in this process."""

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, in_process(arguments), input=stdin)

    return invoke


@pytest.fixture
def process(folder: Path) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """`process("run", "ride.sase")` as a process of its own, with pipes."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        code = "from hamlet.cli import main; main()"
        command = [sys.executable, "-c", code, *in_process(arguments)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        root = str(Path(__file__).parents[2])
        env = {**os.environ, "PYTHONPATH": root}
        options = {**pipes, "preexec_fn": _heed_interrupts, **options}
        started.append(subprocess.Popen(command, cwd=folder, env=env, **options))
        return started[-1]

    yield start
    for one in started:  # a test that failed must not leave a long run behind
        one.kill()


def _heed_interrupts() -> None:
    """Tests in the background of a shell are started deaf to Ctrl-C, and so are their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
