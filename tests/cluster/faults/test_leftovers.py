"""What a killed job leaves among temporary files, the next start removes."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import proc
from cluster.faults.command import Command
from cluster.faults.processes import kill


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in the place of /tmp. Its path is short, as Ray needs it. Java knows it only if it
    is told, and takes what its command line says before this."""
    found = Path("/tmp") / f"t{os.getpid()}"
    found.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(found))
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-Djava.io.tmpdir={found}")
    yield found
    shutil.rmtree(found)


def kill_all(root: int) -> None:
    for pid in proc.tree(root):
        kill(pid)


def test_nothing_stays_among_temporary_files(command: Command, temporary: Path) -> None:
    command.fill(0, 3)
    command.start()
    command.next_epoch()
    command.kill(lambda: kill_all(command.pid))
    assert list(temporary.glob("hamlet-*/java/*")), "its JVMs had no time to remove them"

    command.fill(3, 6)
    command.start()
    command.next_epoch()
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert [path.name for path in temporary.iterdir()] == []
