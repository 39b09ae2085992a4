"""Real processes that die, hang and come back, in front of a watchdog with short rounds."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from actors.health import Health, ProcessStatus, kill_local, local_health
from actors.process_watch import LocalProcesses
from hamlet.job import watchdog as watchdogs
from hamlet.job.watchdog import ProcessLost, Watchdog
from runtime.errors import Failure
from tools.patience import PATIENCE_S

ROUND_S = 0.05
SILENT_ROUNDS = watchdogs.SILENT_ROUNDS


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    """Rounds are so short that on a busy machine many pass before a process can answer."""
    monkeypatch.setattr(watchdogs, "EVERY_SECONDS", ROUND_S)
    monkeypatch.setattr(watchdogs, "SILENT_ROUNDS", PATIENCE_S / ROUND_S)


@pytest.fixture
def child() -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str = "import time; time.sleep(1000)") -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen([sys.executable, "-c", code]))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()


class RecordedWatchdog:
    """What a watchdog says, and the watchdog."""

    def __init__(self, *watches) -> None:
        self.restarted: list[str] = []
        self.warnings: list[str] = []
        self.failures: list[Failure] = []
        self.dog = Watchdog(
            watches, self.restarted.append, self.warnings.append, "again", self.failures.append
        )

    def __enter__(self) -> "RecordedWatchdog":
        self.dog.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.dog.stop()


class Restarted:
    """An actor, as Ray restarts it: another process under the same id."""

    what = "Ray"

    def __init__(self, start: Callable[[], "subprocess.Popen[bytes]"]) -> None:
        self._start = start
        self.process = start()
        self.restarts = 0
        self.rounds = 0

    def observe(self) -> list[ProcessStatus]:
        pid = self.process.pid
        if local_health(pid) is Health.GONE:
            self.process, self.restarts = self._start(), self.restarts + 1
            pid = self.process.pid
        self.rounds += 1
        kill = partial(kill_local, pid)
        status = ProcessStatus("router", "the router", "one", pid, local_health(pid), kill)
        return [replace(status, restarts=self.restarts)]

    def give_up(self) -> None: ...


class Expendable:
    """A process that the job can do without, and that nothing starts again."""

    what = "Ray"

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._pid = process.pid
        self.rounds = 0

    def observe(self) -> list[ProcessStatus]:
        pid, kill = self._pid, partial(kill_local, self._pid)
        self.rounds += 1
        return [
            ProcessStatus("one", "the one", "one", pid, local_health(pid), kill, False, 0, False)
        ]

    def give_up(self) -> None: ...


class Silent:
    """Asks something that never answers."""

    what = "the oracle"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.given_up = False

    def observe(self) -> list[ProcessStatus]:
        self.asked.wait()
        return []

    def give_up(self) -> None:
        self.given_up = True
        self.asked.set()


def wait_for(done: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_dead(child):
    process = child()
    with RecordedWatchdog(LocalProcesses({"Spark's driver": process.pid})) as seen:
        seen.dog.check()
        process.kill()
        wait_for(lambda: seen.failures)
        with pytest.raises(ProcessLost) as error:
            seen.dog.check()
    assert error.value.message == f"Spark's driver (process {process.pid}) has died"
    assert error.value.hint == "again"
    assert seen.failures == [error.value]


def test_stopped(child):
    """It is killed, so that nobody waits for it."""
    process = child()
    with RecordedWatchdog(LocalProcesses({"Ray's raylet": process.pid})) as seen:
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: seen.failures)
    name = f"Ray's raylet (process {process.pid})"
    assert seen.failures[0].message == f"{name} is suspended"
    assert process.wait(PATIENCE_S) == -signal.SIGKILL


def test_the_reason_is_known_before_the_kill(child):
    """Others find a killed process dead, and cannot know that it was stopped."""
    process = child()
    known: list[str] = []

    class Watch(LocalProcesses):
        def observe(self) -> list[ProcessStatus]:
            return [replace(each, kill=self.kill) for each in super().observe()]

        def kill(self) -> None:
            known.extend(failure.message for failure in seen.failures)

    with RecordedWatchdog(Watch({"Ray's raylet": process.pid})) as seen:
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: known)
    assert known == [f"Ray's raylet (process {process.pid}) is suspended"]


def test_stopped_for_a_moment(child, monkeypatch):
    monkeypatch.setattr(watchdogs, "STOPPED_ROUNDS", 1_000_000)
    actor = Restarted(child)
    with RecordedWatchdog(actor) as seen:
        actor.process.send_signal(signal.SIGSTOP)
        wait_for(lambda: local_health(actor.process.pid) is Health.STOPPED)
        rounds = actor.rounds
        wait_for(lambda: actor.rounds > rounds + 5)
        actor.process.send_signal(signal.SIGCONT)
        wait_for(lambda: local_health(actor.process.pid) is Health.RUNNING)
        rounds = actor.rounds
        wait_for(lambda: actor.rounds > rounds + 5)
    assert (seen.warnings, seen.restarted, seen.failures) == ([], [], [])


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_restarted(child, fault):
    """Each restart is counted once."""
    actor = Restarted(child)
    with RecordedWatchdog(actor) as seen:
        wait_for(lambda: actor.rounds > 2)
        actor.process.send_signal(fault)
        wait_for(lambda: len(seen.restarted) == 1)
        actor.process.send_signal(fault)
        wait_for(lambda: len(seen.restarted) == 2)
        seen.dog.check()
    assert seen.restarted == ["router"] * 2
    assert len(seen.warnings) == (2 if fault == signal.SIGSTOP else 0)


def test_the_job_goes_on_without_it(child):
    process = child()
    one = Expendable(process)
    with RecordedWatchdog(one) as seen:
        process.send_signal(signal.SIGSTOP)
        assert process.wait(PATIENCE_S) == -signal.SIGKILL
        rounds = one.rounds
        wait_for(lambda: one.rounds > rounds + 5)
        seen.dog.check()
    assert (seen.failures, seen.restarted) == ([], [])
    assert seen.warnings == [
        f"the one (process {process.pid}) is suspended; killing it, and the job continues "
        "without it"
    ]


def test_watched_from_some_moment_on(child):
    first, second = child(), child()
    with RecordedWatchdog(LocalProcesses({"Ray's raylet": first.pid})) as seen:
        wait_for(lambda: seen.dog.rounds > 2)
        seen.dog.add(LocalProcesses({"Spark's driver": second.pid}))
        second.kill()
        wait_for(lambda: seen.failures)
    assert seen.failures[0].message == f"Spark's driver (process {second.pid}) has died"


def test_busy_is_not_hanging(child):
    """It computes, and answers nobody."""
    process = child("while True: pass")
    busy = LocalProcesses({"the aggregator": process.pid})
    watched = Restarted(child)
    with RecordedWatchdog(busy, watched) as seen:
        limit = 3 * SILENT_ROUNDS
        wait_for(lambda: watched.rounds > limit)
        seen.dog.check()
    assert seen.failures == []


def test_silent(monkeypatch):
    monkeypatch.setattr(watchdogs, "SILENT_ROUNDS", SILENT_ROUNDS)
    oracle = Silent()
    with RecordedWatchdog(oracle) as seen:
        wait_for(lambda: seen.failures)
    assert seen.failures[0].message == "the oracle does not answer"
    assert oracle.given_up


def test_the_cause_of_an_error(child):
    """A call fails before the watchdog has found that a process died: that is what is said."""
    process = child()
    with RecordedWatchdog(LocalProcesses({"Spark's driver": process.pid})) as seen:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_for(lambda: explained(seen))
    assert "has died" in seen.failures[0].message


def explained(seen: RecordedWatchdog) -> bool:
    try:
        seen.dog.explain()
    except ProcessLost:
        return True
    return False


def test_an_error_with_another_cause(child):
    with RecordedWatchdog(LocalProcesses({"Spark's driver": child().pid})) as seen:
        seen.dog.explain()


class Nodes:
    """Two actors on two nodes whose processes have the same number; one of them is stopped."""

    what = "Ray"

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.killed = threading.Event()

    def observe(self) -> list[ProcessStatus]:
        def nothing() -> None:
            raise AssertionError("it runs")

        stopped, running = Health.STOPPED, Health.RUNNING
        return [
            ProcessStatus("router", "the router", "a", self._pid, stopped, self.killed.set),
            ProcessStatus("router", "another", "b", self._pid, running, nothing),
        ]

    def give_up(self) -> None: ...


def test_processes_of_two_nodes_may_have_one_number() -> None:
    nodes = Nodes(312)
    with RecordedWatchdog(nodes):
        assert nodes.killed.wait(PATIENCE_S)


class Unkillable(Restarted):
    """It cannot be killed, as if it belonged to another user."""

    def observe(self) -> list[ProcessStatus]:
        return [replace(each, kill=self.kill) for each in super().observe()]

    def kill(self) -> None:
        raise PermissionError("it belongs to somebody else")


def fail(what: str) -> None:
    raise ValueError(f"nobody hears of {what}")


def leave(what: str) -> None:
    raise SystemExit(1)


@pytest.mark.parametrize(
    ("kind", "restarted", "warn", "error"),
    [
        (Restarted, fail, print, "ValueError: nobody hears of router"),
        (Restarted, print, fail, "ValueError: nobody hears of the router"),
        (Restarted, print, leave, "SystemExit"),
        (Unkillable, print, print, "PermissionError: it belongs to somebody else"),
    ],
)
def test_a_watchdog_that_cannot_go_on_ends_the_job(child, kind, restarted, warn, error):
    """It would see nothing more, and the job would wait for a process that is dead."""
    actor, failures = kind(child), []
    dog = Watchdog([actor], restarted, warn, "again", failures.append)
    dog.start()
    wait_for(lambda: actor.rounds > 5)
    actor.process.send_signal(signal.SIGSTOP)
    wait_for(lambda: failures)
    dog.stop()
    assert failures[0].message.startswith(f"the watchdog cannot continue: {error}")
    with pytest.raises(Failure, match="the watchdog cannot continue"):
        dog.check()
