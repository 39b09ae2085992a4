"""Lists the processes of Ray and of actors, with their health.

Each list is a `ProcessWatch`. The watchdog of a job (`hamlet.job.watchdog`) reads them in rounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import ray

from actors.health import (
    Health,
    NodeProbes,
    ProcessStatus,
    child_running,
    kill_local,
    local_health,
)
from actors.ray_internals import actor_entry, living_actors, own_node

# Ray's table of actors: an entry for each, by id.
ActorTable = Mapping[str, Mapping[str, Any]]


class ProcessWatch(Protocol):
    """`observe` lists processes. It asks `what`, which hangs if there is no answer: then `give_up`
    ends it, so that nobody else waits for it."""

    what: str

    def observe(self) -> list[ProcessStatus]: ...

    def give_up(self) -> None: ...


@dataclass(frozen=True)
class WatchedActor:
    """`child` is a program that the actor runs, and that the job needs as well. An actor that is
    not `needed` is killed if it hangs, and the job goes on without it."""

    kind: str
    name: str
    id: str
    restartable: bool = True
    child: str | None = None
    needed: bool = True


def watched_actors(kind: str, handles: Iterable[Any]) -> list[WatchedActor]:
    return [WatchedActor(kind, f"the {kind}", handle._actor_id.hex()) for handle in handles]


def ray_servers() -> dict[str, int]:
    """The servers of the embedded cluster of this process."""
    node, names = own_node(), ("gcs_server", "raylet")
    return {f"Ray's {name}": node.all_processes[name][0].process.pid for name in names}


def ray_agents() -> dict[str, int]:
    """The agents of its raylet, which starts them, and ends with them. They get their names a
    moment after the servers run."""
    raylet = ray_servers()["Ray's raylet"]
    agents = ("DashboardAgent", "RuntimeEnvAgent")
    found = {f"Ray's {agent}": child_running(raylet, f"ray::{agent}") for agent in agents}
    return {name: pid for name, pid in found.items() if pid is not None}


class LocalProcesses:
    """Processes of this machine that the job cannot go on without, by name. The kernel answers."""

    what = "the kernel"

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = dict(pids)

    def observe(self) -> list[ProcessStatus]:
        return [
            ProcessStatus(name, name, name, pid, local_health(pid), partial(kill_local, pid), False)
            for name, pid in self._pids.items()
        ]

    def give_up(self) -> None: ...


class ActorWatch:
    """Actors of this job, and those that `others` finds in Ray's table. `jobs` are the ids of Ray
    jobs that have actors of ours, besides that of this process."""

    what = "Ray's gcs_server"

    def __init__(
        self,
        actors: Iterable[WatchedActor],
        others: Callable[[ActorTable], list[WatchedActor]],
        jobs: Iterable[str] = (),
    ) -> None:
        self._actors = list(actors)
        self._others = others
        self._jobs = {ray.get_runtime_context().get_job_id(), *jobs}
        self._known = {actor.id for actor in self._actors}
        self._probes = NodeProbes()

    def observe(self) -> list[ProcessStatus]:
        """Actors that are being started are left out: Ray is at work on them."""
        table = self._table()
        actors = [each for each in (*self._actors, *self._others(table)) if each.id in table]
        self._known = {actor.id for actor in (*self._actors, *actors)}
        pids: dict[str, list[int]] = defaultdict(list)
        for actor in actors:
            if table[actor.id]["State"] == "ALIVE":
                node, pid = _place(table[actor.id])
                pids[node].append(pid)
        health = self._probes.health(pids)
        found: list[ProcessStatus] = []
        for actor in actors:
            entry = table[actor.id]
            if entry["State"] == "DEAD":
                found.append(self._status(actor, entry, Health.GONE))
            elif entry["State"] == "ALIVE" and _place(entry) in health:
                found.append(self._status(actor, entry, health[_place(entry)]))
                found += self._child(actor, entry)
        return found

    def give_up(self) -> None: ...

    def _table(self) -> ActorTable:
        """Those that live, and those that were found before. Others that are dead pile up in Ray's
        table, and reading all of them would take longer and longer."""
        found: dict[str, Any] = {}
        for job in self._jobs:
            found.update(living_actors(job))
        for id in self._known - found.keys():
            entry = actor_entry(id)
            if entry:
                found[id] = entry
        return found

    def _status(
        self, actor: WatchedActor, entry: Mapping[str, Any], health: Health
    ) -> ProcessStatus:
        return ProcessStatus(
            actor.kind,
            actor.name,
            actor.id,
            entry["Pid"],
            health,
            partial(self._probes.kill, *_place(entry)),
            actor.restartable,
            entry["NumRestarts"],
            actor.needed,
        )

    def _child(self, actor: WatchedActor, entry: Mapping[str, Any]) -> list[ProcessStatus]:
        """On this machine only: the table of actors has no other processes."""
        node, pid = _place(entry)
        if actor.child is None or node != self._probes.here:
            return []
        child = child_running(pid, actor.child)
        if child is None:
            return []
        return [
            ProcessStatus(
                actor.kind,
                actor.name,
                f"{actor.id} {actor.child}",
                child,
                local_health(child),
                partial(kill_local, child),
                actor.restartable,
            )
        ]


def _place(entry: Mapping[str, Any]) -> tuple[str, int]:
    return entry["Address"]["NodeID"], entry["Pid"]
