"""Every process of a job is known to its watchdog, and a stopped actor comes back."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import ray
from pyspark.sql import SparkSession

from actors import rehearsal as rehearsing
from actors.actor_pool import ActorPool
from actors.control import Control
from actors.health import Health
from actors.process_watch import (
    ActorTable,
    ActorWatch,
    LocalProcesses,
    WatchedActor,
    ray_agents,
    ray_servers,
)
from actors.rehearsal import PendingRehearsal, rehearsals
from cluster import proc
from cluster.faults import processes
from hamlet.job.watchdog import Watchdog
from pipeline.records import COLUMNS, WORKLOAD
from runtime.errors import EnvironmentFailure
from runtime.pipeline.rehearsal import Rehearsal
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from spark_ingest.spark_watch import (
    AppMaster,
    SparkDriver,
    raydp_actors,
    raydp_job,
    spark_driver,
)
from tools.patience import PATIENCE_S


def wait_for(done: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_every_process_is_known(cluster, spark):
    others = commands() - session_commands(str(cluster.folder))
    pool = ActorPool(2, 2)
    try:
        check_known(cluster, spark, pool, others)
    finally:
        pool.close()


def check_known(cluster, spark, pool: ActorPool, others: set[tuple[int, str]]) -> None:
    watch = ActorWatch(pool.watched, raydp_actors, [raydp_job()])
    local = LocalProcesses(ray_servers() | ray_agents() | spark_driver())
    kinds = {"aggregator", "router", "optimizer", "executor", "app master"}
    # Actors start one after the other.
    wait_for(lambda: {status.kind for status in watch.observe()} == kinds)
    wait_for(lambda: len(named(watch, "aggregator")) == pool.size)
    started = {each for each in commands() - others if is_part(each[1], str(cluster.folder))}
    known = {status.pid for each in (watch, local) for status in each.observe()}
    missed = {pid: said[:80] for pid, said in started if pid not in known and proc.alive(pid)}
    assert missed == {}
    assert SparkDriver(spark).observe() == []


def named(watch: ActorWatch, kind: str) -> list[int]:
    return [status.pid for status in watch.observe() if status.kind == kind]


def commands() -> set[tuple[int, str]]:
    """All processes below this one. A worker that becomes an actor changes its command."""
    return {(pid, processes.command(pid)) for pid in proc.tree(os.getpid()) if pid != os.getpid()}


def session_commands(folder: str) -> set[tuple[int, str]]:
    """Those that were started for Ray and Spark, and not by another test."""
    return {each for each in commands() if folder in each[1] or "raydp" in each[1].lower()}


def is_part(said: str, folder: str) -> bool:
    """Whether a command is part of a job: not a worker without work."""
    idle = said.startswith("ray::IDLE") or "default_worker.py" in said
    return not idle and (said.startswith("ray::") or "java" in said[:100] or folder in said)


def test_stopped_aggregator_comes_back(cluster, spark, actor_pool):
    pool = actor_pool(1)
    watch = ActorWatch(pool.watched, raydp_actors, [raydp_job()])
    restarted: list[str] = []
    warnings: list[str] = []
    dog = Watchdog([watch], restarted.append, warnings.append, "again")
    wait_for(lambda: named(watch, "aggregator"))
    (pid,) = named(watch, "aggregator")
    dog.start()
    try:
        wait_for(lambda: dog.rounds > 1)
        processes.stop(pid)
        wait_for(lambda: restarted)
        dog.check()
    finally:
        dog.stop()
    assert restarted == ["aggregator"]
    assert warnings == [f"the aggregator (process {pid}) is suspended; restarting it"]
    assert ray.get(pool.aggregators[0].is_initialized.remote()) is False


def doomed() -> Any:
    """An actor that is there. Its class is one of ours, which workers import: Ray keeps the classes
    of tests in a table, and forgets them when other actors of the job have died."""
    actor = Control.options(max_restarts=0).remote()
    assert ray.get(actor.answer.remote("1")) is None
    return actor


def watch_on(actors: list[Any]) -> ActorWatch:
    known = [WatchedActor("doomed", "one", a._actor_id.hex(), restartable=False) for a in actors]
    return ActorWatch([], lambda table: known)


def test_dead_actors_do_not_pile_up(cluster):
    """Each rehearsal leaves one in Ray's table."""
    sizes: list[int] = []

    def others(table: ActorTable) -> list[WatchedActor]:
        sizes.append(len(table))
        return []

    watch = ActorWatch([], others)
    watch.observe()
    actors = [doomed() for _ in range(5)]
    all_dead = watch_on(actors)
    for actor in actors:
        ray.kill(actor)
    wait_for(lambda: Health.RUNNING not in {status.health for status in all_dead.observe()})
    watch.observe()
    assert sizes[-1] <= sizes[0]


def test_an_actor_that_died_is_reported_again(cluster):
    """Who reads the reports may miss some."""
    actor = doomed()
    watch = watch_on([actor])
    assert [status.health for status in watch.observe()] == [Health.RUNNING]
    ray.kill(actor)
    wait_for(lambda: [status.health for status in watch.observe()] == [Health.GONE])
    assert [status.health for status in watch.observe()] == [Health.GONE]


def test_rehearsals_are_watched(cluster, spark, actor_pool):
    """One that is stopped is killed, and whoever asked for the change gets an answer."""
    pool = actor_pool(1)
    watch = ActorWatch(pool.watched, rehearsals)
    warnings: list[str] = []
    dog = Watchdog([watch], lambda kind: None, warnings.append, "again")
    pending = PendingRehearsal(rehearsal(), [ray.get_runtime_context().get_node_id()])
    wait_for(lambda: named(watch, "rehearsal"))
    (pid,) = named(watch, "rehearsal")
    processes.stop(pid)
    assert not pending.is_done()
    dog.start()
    try:
        wait_for(pending.is_done)
        dog.check()
    finally:
        dog.stop()
    with pytest.raises(ray.exceptions.RayError):
        pending.result()
    assert warnings == [
        f"the rehearsal of a change (process {pid}) is suspended; killing it, and the job "
        "continues without it"
    ]
    wait_for(lambda: not named(watch, "rehearsal"))


def test_a_rehearsal_has_an_end(cluster, spark, monkeypatch):
    monkeypatch.setattr(rehearsing, "LIMIT_SECONDS", 0.0)
    pending = PendingRehearsal(rehearsal(), [ray.get_runtime_context().get_node_id()])
    assert pending.is_done()
    with pytest.raises(EnvironmentFailure, match="has not ended after 0 s"):
        pending.result()
    watch = ActorWatch([], rehearsals)
    wait_for(lambda: not named(watch, "rehearsal"))


def test_a_rehearsal_leaves_no_process(cluster, spark):
    pending = PendingRehearsal(rehearsal(), [ray.get_runtime_context().get_node_id()])
    wait_for(pending.is_done)
    pending.result()
    wait_for(lambda: not named(ActorWatch([], rehearsals), "rehearsal"))
    wait_for(lambda: not [p for p in proc.tree(os.getpid()) if is_rehearsal(p)])


def is_rehearsal(pid: int) -> bool:
    return processes.command(pid).startswith("ray::Rehearsal") and proc.alive(pid)


def rehearsal() -> Rehearsal:
    return Rehearsal(Settings(), InputFormat(columns=COLUMNS), WORKLOAD, None)


def ask(spark: SparkSession, answered: threading.Event) -> None:
    assert AppMaster(spark).observe() == []
    answered.set()


def test_the_app_master_answers_through_all_of_its_processes(cluster, spark):
    """Whichever of them is stopped, there is no answer; and one once it goes on."""
    for kind in ("app_master", "gateway"):
        (pid,) = processes.of(kind)
        answered = threading.Event()
        processes.stop(pid)
        try:
            asking = threading.Thread(target=ask, args=[spark, answered])
            asking.start()
            assert not answered.wait(3), kind
        finally:
            os.kill(pid, signal.SIGCONT)
        assert answered.wait(PATIENCE_S), kind
        asking.join()
