"""Processes of a job die or hang: they are restarted, or the job ends and says why.

That nothing waits for ever is what these tests show: on a job that nobody watches they run out of
time. What is kept shows in the same command, started again.
"""

import os
import re
import signal
import urllib.request

import pytest

from cluster import proc
from cluster.faults import processes, stream
from cluster.faults.command import Command, query
from cluster.monitoring.job import by
from tools.patience import PATIENCE_S

RESTARTED = ("aggregator", "router", "optimizer", "hub", "control", "executor")
# As the messages call them.
NAMES = {
    "app_master": "RayDP's app master",
    "gateway": "RayDP's app master",
    "spark_driver": "Spark's driver",
    "gcs_server": "Ray's gcs_server",
    "raylet": "Ray's raylet",
}
FILES_EACH = 3
MORE = "QUERY more RETURN COUNT(*) AS n PATTERN SEQ(A, C) WHERE [driver] WITHIN 20 seconds\n"


def running(command: Command, files: int = 8) -> None:
    command.fill(0, files)
    command.start()
    command.next_epoch()


def restarts(command: Command) -> dict[str, float]:
    """By kind, as the job counts them; nothing while its hub is away."""
    url = re.search(r"http://\S+", command.said)
    assert url is not None
    try:
        with urllib.request.urlopen(f"{url[0]}/metrics", timeout=10) as answer:
            return by(answer.read().decode(), "hamlet_restarts_total", "part")
    except OSError:
        return {}


def test_stopped_processes_are_restarted(command, undisturbed):
    """One of each kind after the other, with rows to be read meanwhile."""
    files = 8
    running(command, files)
    for kind in RESTARTED:
        before = processes.of(kind, command.pid)
        processes.stop(before[0])
        command.fill(files, files + FILES_EACH)
        files += FILES_EACH
        command.wait_for(lambda pid=before[0]: not proc.alive(pid))
        command.wait_for(lambda kind=kind: restarts(command).get(kind) == 1)
        command.wait_for(lambda files=files: command.files() == files)
    assert command.said.count("is suspended; restarting it") == len(RESTARTED), command.said
    assert {kind: restarts(command)[kind] for kind in RESTARTED} == dict.fromkeys(RESTARTED, 1)
    command.fill(files, stream.FILES)
    command.all_files()
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert stream.written(command.output) == undisturbed


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("app_master", signal.SIGKILL),
        ("app_master", signal.SIGSTOP),
        ("gateway", signal.SIGKILL),
        ("spark_driver", signal.SIGKILL),
        ("spark_driver", signal.SIGSTOP),
        ("gcs_server", signal.SIGKILL),
        ("gcs_server", signal.SIGSTOP),
        ("raylet", signal.SIGKILL),
        ("raylet", signal.SIGSTOP),
    ],
    ids=lambda given: getattr(given, "name", given),
)
def test_lost_process_ends_the_job(command, kind, fault):
    running(command)
    below = proc.tree(command.pid)
    (lost,) = processes.of(kind, command.pid)
    os.kill(lost, fault)
    assert command.end() == 2, command.said
    assert f"error: {NAMES[kind]} (process " in command.said
    last = command.said.splitlines()[-1]
    assert last.startswith(f"failed: {NAMES[kind]} (process ")
    assert command.kept() in (command.epoch(), command.epoch() - 1)
    assert "hint: start the same command again; the logs are in " in command.said
    processes.wait_for_end(below)


def test_job_goes_on_after_its_app_master_died(command, undisturbed):
    running(command)
    (lost,) = processes.of("app_master", command.pid)
    processes.kill(lost)
    command.fill(8, stream.FILES)
    assert command.end() == 2, command.said
    command.start()
    command.all_files()
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert stream.written(command.output) == undisturbed


@pytest.mark.parametrize("kind", ["gcs_server", "spark_driver"])
def test_a_server_is_lost_while_spark_starts(command, kind):
    command.fill(0, 8)
    command.start()
    command.wait_for(lambda: processes.of("spark_driver", command.pid))
    below = proc.tree(command.pid)
    (lost,) = processes.of(kind, command.pid)
    processes.stop(lost)
    assert command.end() == 2, command.said
    assert f"error: {NAMES[kind]} (process {lost}) is suspended" in command.said
    last = command.said.splitlines()[-1]
    assert last.startswith(f"failed: {NAMES[kind]} (process {lost}) is suspended")
    assert f"; kept: {command.checkpoint} as it was" in last
    processes.wait_for_end(below)


def test_a_stopped_rehearsal_keeps_no_change_from_being_made(command, tmp_path):
    """The change is refused; another one is made."""
    running(command)
    (tmp_path / "more.sase").write_text(MORE)
    adding = query(command, "add", "more.sase")
    command.wait_for(lambda: processes.of("rehearsal", command.pid))
    (lost,) = processes.of("rehearsal", command.pid)
    processes.stop(lost)
    said = adding.communicate(timeout=PATIENCE_S)[1]
    assert adding.returncode != 0
    assert "its rehearsal failed: " in said
    assert "the job is unchanged; try again" in said
    assert f"(process {lost}) is suspended; killing it, and the" in command.said
    adding = query(command, "add", "more.sase")
    assert "added more with epoch" in adding.communicate(timeout=PATIENCE_S)[1]
    assert command.signal(signal.SIGTERM) == 0, command.said


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("aggregator", {0}),
        ("executor", {0}),
        ("app_master", {2}),
        ("spark_driver", {2}),
        ("raylet", {2, 143}),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_sigterm_while_a_process_is_stopped(command, kind, codes, monkeypatch):
    """The job recovers and stops, or ends by force."""
    monkeypatch.setenv("RAY_JOB_STOP_WAIT_TIME_S", "60")
    running(command)
    below = proc.tree(command.pid)
    processes.stop(processes.of(kind, command.pid)[0])
    command.fill(8, 12)
    assert command.signal(signal.SIGTERM) in codes, command.said
    processes.wait_for_end(below)
