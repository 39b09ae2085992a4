"""Finds the processes of an embedded cluster by its folder, and ends them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray  # noqa: F401  (it makes psutil importable)

from actors.ray_internals import own_node

import psutil  # isort: skip


def of_folder(folder: Path) -> list[Any]:
    """Our children with the folder on their command line, and all their descendants.

    Ray's own processes and the JVM of Spark's driver name the folder. Workers change their command
    line, but they are children of the raylet, and RayDP's Java processes are children of workers.
    Other children of this process are not affected.
    """
    found: dict[int, Any] = {}
    for child in _children(psutil.Process()):
        if any(str(folder) in part for part in _command(child)):
            for one in (child, *_children(child)):
                found.setdefault(one.pid, one)
    return list(found.values())


def kill_tree(pid: int) -> None:
    """Kills a process and all its descendants."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        _signal([process, *_children(process)], "kill")


def dead_servers() -> dict[str, int]:
    """The process ids of Ray's servers that this process started and that have died, by name."""
    node = own_node()
    dead = [] if node is None else node.dead_processes()
    return {f"Ray's {kind}": process.pid for kind, process in dead}


def end(processes: Iterable[Any], patience_s: float) -> None:
    """Terminates processes, waits for them, and kills those that remain."""
    terminated = list(processes)
    _signal(terminated, "terminate")
    _, alive = psutil.wait_procs(terminated, timeout=patience_s)
    _signal(alive, "kill")
    psutil.wait_procs(alive, timeout=patience_s)


def _signal(processes: list[Any], name: str) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            getattr(process, name)()


def _children(process: Any) -> list[Any]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _command(process: Any) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
