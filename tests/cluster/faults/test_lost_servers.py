"""A process of Ray or Spark that nothing restarts dies: the job ends at once, and can go on."""

import signal

import pytest

from cluster.faults import stream
from cluster.faults.processes import command as command_line
from cluster.faults.processes import kill
from cluster.proc import tree

SERVERS = {
    "gcs_server": "Ray's gcs_server",
    "raylet": "Ray's raylet",
    "SparkSubmit": "Spark's driver",
}


@pytest.mark.parametrize("server", SERVERS)
def test_the_job_ends_with_two_and_goes_on(command, undisturbed, server):
    command.fill(0, 20)
    command.start()
    command.next_epoch()
    pids = [pid for pid in tree(command.pid) if _is_server(pid, server)]
    assert len(pids) == 1, server
    kill(pids[0])
    command.fill(20, stream.FILES)
    assert command.end() == 2, command.said
    *before, last = command.said.strip().splitlines()
    assert last == (
        f"failed: {SERVERS[server]} (process {pids[0]}) has died; kept: the checkpoint of "
        f"epoch {command.kept()} in {command.checkpoint}; the same command resumes from it"
    )
    assert command.kept() in (command.epoch(), command.epoch() - 1)
    said = [line.partition(" ")[0] for line in before]
    assert said == ["live", "error:", "hint:"], "no line of C++ or Java, and no repeats"

    command.start()
    command.all_files()
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert stream.written(command.output) == undisturbed


def _is_server(pid: int, server: str) -> bool:
    """The program itself, not one that names it."""
    words = command_line(pid).split(" ")
    if server == "SparkSubmit":
        return any(word.endswith(f".{server}") for word in words)
    return words[0].endswith(f"/{server}")
