"""Whether processes run, are stopped or are gone, on this machine and on other nodes.

The kernel knows it of every process, whatever the process is busy with: one that computes for
minutes runs, one that got SIGSTOP does not.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import psutil  # isort: skip  (Ray makes it importable)

# A node that does not answer in time is Ray's to declare dead: it does so within half a minute.
NODE_SECONDS = 5.0


class Health(Enum):
    RUNNING = "running"
    STOPPED = "stopped"
    GONE = "gone"


@dataclass(frozen=True)
class ProcessStatus:
    """A process of a job at one moment. Its restarts are counted by `kind`, messages call it
    `name`, and `id` stays the same when it is restarted. Ray starts a `restartable` one again.
    Without any other that is `needed` the job cannot go on."""

    kind: str
    name: str
    id: str
    pid: int
    health: Health
    kill: Callable[[], None]
    restartable: bool = True
    restarts: int = 0
    needed: bool = True


def died(name: str, pid: int) -> str:
    """The message for a process that the job cannot go on without."""
    return f"{name} (process {pid}) has died"


def way_on(logs: object) -> str:
    """The hint of that message."""
    return f"start the same command again; the logs are in {logs}"


def local_health(pid: int) -> Health:
    """A process under a debugger is not stopped: somebody is looking at it."""
    try:
        status = psutil.Process(pid).status()
    except psutil.Error:
        return Health.GONE
    if status in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
        return Health.GONE
    return Health.STOPPED if status == psutil.STATUS_STOPPED else Health.RUNNING


def kill_local(pid: int) -> None:
    """SIGKILL also ends a stopped process, unlike `ray.kill`, which asks it to end."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def child_running(pid: int, program: str) -> int | None:
    """The process id of a child with `program` on its command line."""
    with suppress(psutil.Error):
        for child in psutil.Process(pid).children():
            if program in child.cmdline():
                return int(child.pid)
    return None


@ray.remote(num_cpus=0)
class NodeProbe:
    """Looks at the processes of its node."""

    def health(self, pids: list[int]) -> dict[int, Health]:
        return {pid: local_health(pid) for pid in pids}

    def kill(self, pid: int) -> None:
        kill_local(pid)


class NodeProbes:
    """Looks at processes of all nodes: of this one directly, of others through an actor there."""

    def __init__(self) -> None:
        self.here: str = ray.get_runtime_context().get_node_id()
        self._probes: dict[str, Any] = {}

    def health(self, pids: Mapping[str, list[int]]) -> dict[tuple[str, int], Health]:
        """By node and process id. Those of a node that does not answer are left out."""
        found = {(self.here, pid): local_health(pid) for pid in pids.get(self.here, ())}
        others = [node for node in pids if node != self.here]
        calls = {self._probe(node).health.remote(pids[node]): node for node in others}
        if calls:
            answered, _ = ray.wait(list(calls), num_returns=len(calls), timeout=NODE_SECONDS)
            for call in answered:
                node = calls[call]
                try:
                    answer: dict[int, Health] = ray.get(call)
                except ray.exceptions.RayError:
                    del self._probes[node]
                else:
                    found |= {(node, pid): health for pid, health in answer.items()}
        return found

    def kill(self, node: str, pid: int) -> None:
        if node == self.here:
            kill_local(pid)
        else:
            self._probe(node).kill.remote(pid)

    def _probe(self, node: str) -> Any:
        if node not in self._probes:
            there = NodeAffinitySchedulingStrategy(node, soft=False)
            self._probes[node] = NodeProbe.options(scheduling_strategy=there).remote()  # type: ignore[attr-defined]
        return self._probes[node]
