"""Every fault that is done to a job, and how it is undone.

A fault is a function of the job and of what chance decides. It returns when the fault is over; what
can only be undone after the job has recovered, it returns as a function.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chaos.bit_flips import Undo
from chaos.events import FolderFeed
from chaos.job import POLL_S, Job, Stuck
from chaos.schedule import FILES, TOPICS
from cluster import proc
from cluster.faults import processes
from cluster.faults.command import Command
from tools.kafka import Broker
from tools.patience import PATIENCE_S

Inject = Callable[[Job, random.Random], Undo | None]

# A watchdog that ends what hangs does so within 30 seconds: one of the pauses is longer.
PAUSES_S = (1.0, 3.0, 10.0, 40.0)
# A process that dies is missed within 30 seconds; this machine may be busy.
NOTICED_S = 90.0
# How long a disk or a broker is away.
AWAY_S = (5.0, 20.0)
# Rows come at this pace while two runs are under way.
BETWEEN_TABLES_S = 3.0
# A change of queries is answered within ten minutes, the limit of its rehearsal.
CHANGE_S = 660.0
LARGE = "512m"
MOST_ACTORS = 4
# Tables that are fed while the damage of a file lies there unseen.
UNSEEN = 3


@dataclass(frozen=True)
class Fault:
    """`ends`: whether the command may end by itself, to be started again. `weight`: how often it is
    chosen against others, after all were chosen once."""

    name: str
    inject: Inject
    ends: bool = False
    weight: int = 1
    segments: frozenset[str] = frozenset({FILES})


def _both(*faults: Fault) -> list[Fault]:
    return [
        Fault(each.name, each.inject, each.ends, each.weight, frozenset({FILES, TOPICS}))
        for each in faults
    ]


# ---- processes ------------------------------------------------------------------------------

#: Kinds of processes, and whether the command may end if one of them dies or hangs.
KINDS = {
    "aggregator": False,
    "router": False,
    "optimizer": False,
    "hub": False,
    "control": False,
    "executor": False,
    "gcs_server": True,
    "raylet": True,
    "spark_driver": True,
    "app_master": True,
    "gateway": True,
}


def kill(kind: str, job: Job, chance: random.Random) -> None:
    """Another one takes its place, or the command ends. A job may run on for a while without some
    of them, and so would not be harmed before a later fault."""
    killed = job.process(kind, chance)
    before = set(processes.of(kind, job.command.pid))
    os.kill(killed, signal.SIGKILL)
    job.feed.feed(1)
    job.wait_for(
        lambda: bool(set(processes.of(kind, job.command.pid)) - before),
        f"another process in the place of a killed one: {kind}",
        NOTICED_S,
    )


def pause(kind: str, job: Job, chance: random.Random) -> None:
    """Until the watchdog has killed the process, if it does."""
    paused = job.process(kind, chance)
    os.kill(paused, signal.SIGSTOP)
    try:
        job.hold(chance.choice(PAUSES_S), until=lambda: not proc.alive(paused))
    finally:
        resume(paused)


def resume(pid: int) -> None:
    """Unless somebody has killed it meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def kill_driver(job: Job, chance: random.Random) -> None:
    job.kill()


def kill_while_starting(job: Job, chance: random.Random) -> None:
    job.kill()
    job.start()
    job.hold(chance.uniform(2, 25))
    if not job.is_down:
        job.kill()


def stop(job: Job, chance: random.Random) -> None:
    """As a user stops it: it ends after the epochs under way."""
    ended = job.stop()
    if ended.code != 0:
        raise Stuck(f"SIGTERM: {ended}")


# ---- disks ----------------------------------------------------------------------------------


def full_disk(which: str, job: Job, chance: random.Random) -> None:
    disk, room = job.disks[which], chance.randrange(100_000)
    _insist(lambda: disk.change(f"size={_used(disk.path) + room}"))
    job.feed.feed(2)
    job.hold(chance.uniform(*AWAY_S))
    disk.change(f"size={LARGE}")


def read_only_disk(which: str, job: Job, chance: random.Random) -> None:
    disk = job.disks[which]
    _insist(lambda: disk.change("ro"))
    job.feed.feed(2)
    job.hold(chance.uniform(*AWAY_S))
    disk.change("rw")


def _used(path: Path) -> int:
    there = os.statvfs(path)
    return (there.f_blocks - there.f_bfree) * there.f_frsize


def _insist(change: Callable[[], None]) -> None:
    """The kernel refuses while somebody writes."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return change()
        except AssertionError as error:
            if time.monotonic() > until:
                raise Stuck(f"the disk stays busy: {error}") from error
            time.sleep(POLL_S)


# ---- files ----------------------------------------------------------------------------------


def flip_while_down(job: Job, chance: random.Random) -> Undo:
    job.kill()
    return job.flips.flip(chance, job.note)


def flip_while_running(job: Job, chance: random.Random) -> Undo:
    """The damage is found when the job starts the next time, if not before."""
    undo = job.flips.flip(chance, job.note)
    job.feed.feed(UNSEEN)
    job.catch_up()
    if not job.is_down:
        job.kill()
    return undo


def vanished_input(job: Job, chance: random.Random) -> None:
    """Files that were read may be deleted."""
    feed = job.feed
    assert isinstance(feed, FolderFeed)
    there = feed.events.tables_in(job.committed_rows())
    gone = [path for path in sorted(feed.folder.glob("*.parquet")) if int(path.stem) < there]
    for path in gone:
        path.unlink()
    job.note(f"{len(gone)} files")


# ---- two runs on one checkpoint -------------------------------------------------------------


def twin(job: Job, chance: random.Random) -> None:
    """The same command once more, beside the first: one of them ends, the other goes on."""
    first, second = job.command, job.another_command()
    job.start(second)
    _until_one_ends(job, first, second)
    if first.code is not None:
        job.take_over(second, job.name)
    job.note("the second took over" if first.code is not None else "the second was refused")


def takeover(job: Job, chance: random.Random) -> None:
    """The first of two runs ends by itself."""
    first, second = job.command, job.another_command()
    job.start(second, second.name)
    _until_one_ends(job, first, second)
    _expect_first_ended(first, second)
    job.take_over(second, second.name)


def paused_takeover(job: Job, chance: random.Random) -> None:
    """The first of two runs sleeps while the second takes over, and goes on after that."""
    first, second = job.command, job.another_command()
    paused = first.pid
    os.kill(paused, signal.SIGSTOP)
    try:
        job.start(second, second.name)
        job.take_over(second, second.name)
        job.feed.feed(1)
        ended = job.catch_up()
        if ended is not None:
            raise Stuck(f"the second run {ended}")
    finally:
        resume(paused)
    _until_one_ends(job, first, second)
    _expect_first_ended(first, second)


def _until_one_ends(job: Job, first: Command, second: Command) -> None:
    """A run finds that it was taken over when it has something to commit, so rows keep coming."""
    until = time.monotonic() + PATIENCE_S
    while first.code is None and second.code is None:
        if time.monotonic() > until:
            second.stop()
            raise Stuck(f"two runs on one checkpoint after {PATIENCE_S:g} s")
        job.feed.feed(1)
        time.sleep(BETWEEN_TABLES_S)


def _expect_first_ended(first: Command, second: Command) -> None:
    if second.code is not None:
        raise Stuck(f"the second run ended with {second.code}: {second.said[-500:]}")
    if first.code == 0:
        raise Stuck(f"the first run ended with 0: {first.said[-500:]}")


# ---- queries and actors ---------------------------------------------------------------------


def add_query(job: Job, chance: random.Random) -> None:
    name, path = job.new_query(chance)
    asked = job.ask("query", "add", str(path))
    said, _ = asked.communicate(timeout=CHANGE_S)
    job.added(name, said)
    if asked.returncode:
        raise Stuck(f"query add ended with {asked.returncode}: {said[-300:]}")


def add_query_and_kill(job: Job, chance: random.Random) -> None:
    """The driver dies as soon as the query is acknowledged, or before."""
    name, path = job.new_query(chance)
    asked = job.ask("query", "add", str(path))
    if chance.random() < 0.5:
        job.hold(chance.uniform(0, 8))
        early = asked.poll() is None
    else:
        asked.wait(CHANGE_S)
        early = False
    job.kill()
    said, _ = asked.communicate(timeout=CHANGE_S)
    job.added(name, said)
    job.note("before the answer" if early else "after the answer")


def remove_query(job: Job, chance: random.Random) -> None:
    there = job.removable()
    if not there:
        return add_query(job, chance)
    name, committed = chance.choice(there), job.committed_rows()
    asked = job.ask("query", "remove", name)
    said, _ = asked.communicate(timeout=CHANGE_S)
    job.removed(name, committed, certain=f"removed {name}" in said)
    if asked.returncode:
        raise Stuck(f"query remove ended with {asked.returncode}: {said[-300:]}")
    return None


def other_workload(job: Job, chance: random.Random) -> None:
    """The query file has another query when the job starts again, and one less if it can."""
    committed = job.committed_rows()
    job.kill()
    for name in [each for each in job.removable() if each in job.given][:1]:
        del job.given[name]
        job.removed(name, committed)
    name, _ = job.new_query(chance)
    job.given[name] = job.texts[name]
    job.added_at_restart(name, committed)


def other_actors(job: Job, chance: random.Random) -> None:
    job.kill()
    job.actors = chance.choice([n for n in range(1, MOST_ACTORS + 1) if n != job.actors])
    job.note(f"{job.actors} from now on")


# ---- Kafka ----------------------------------------------------------------------------------


def broker_away(job: Job, chance: random.Random) -> None:
    _without_broker(job, chance, Broker.stop)


def broker_killed(job: Job, chance: random.Random) -> None:
    _without_broker(job, chance, Broker.kill)


def _without_broker(job: Job, chance: random.Random, end: Callable[[Broker], None]) -> None:
    assert job.broker is not None
    end(job.broker)
    job.hold(chance.uniform(*AWAY_S))
    job.broker.start()


# ---- all of them ----------------------------------------------------------------------------

_PROCESSES = [
    *(
        Fault(f"kill {kind}", partial(kill, kind), ends, weight=1 if ends else 2)
        for kind, ends in KINDS.items()
    ),
    *(Fault(f"pause {kind}", partial(pause, kind), ends) for kind, ends in KINDS.items()),
]
_ON_TOPICS = {"kill aggregator", "kill executor"}

FAULTS = {
    fault.name: fault
    for fault in [
        *(each for each in _PROCESSES if each.name not in _ON_TOPICS),
        *_both(
            *(each for each in _PROCESSES if each.name in _ON_TOPICS),
            Fault("kill driver", kill_driver, weight=3),
            Fault("pause driver", partial(pause, "driver"), weight=2),
            Fault("flip while down", flip_while_down, weight=3),
            Fault("paused takeover", paused_takeover),
        ),
        Fault("kill while starting", kill_while_starting),
        Fault("stop", stop),
        *(
            Fault(f"{name} {which}", partial(inject, which), ends=True)
            for name, inject in (("full", full_disk), ("read-only", read_only_disk))
            for which in ("output", "checkpoint")
        ),
        Fault("flip while running", flip_while_running, ends=True, weight=2),
        Fault("vanished input", vanished_input, weight=2),
        Fault("twin", twin),
        Fault("takeover", takeover),
        Fault("query add", add_query, weight=2),
        Fault("query add, kill", add_query_and_kill),
        Fault("query remove", remove_query),
        Fault("other workload", other_workload),
        Fault("other actors", other_actors),
        Fault("broker away", broker_away, weight=2, segments=frozenset({TOPICS})),
        Fault("broker killed", broker_killed, weight=2, segments=frozenset({TOPICS})),
    ]
}


def kinds() -> dict[str, dict[str, int]]:
    """The faults of each segment, with their weights."""
    return {
        segment: {name: each.weight for name, each in FAULTS.items() if segment in each.segments}
        for segment in (FILES, TOPICS)
    }
