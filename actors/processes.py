"""The processes of an embedded cluster: found by its folder, waited for, and ended for good."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray  # noqa: F401  (it brings psutil along, for those that import it afterwards)

import psutil  # isort: skip


def of_folder(folder: Path) -> list[Any]:
    """Our children that have the folder on their command line, and all that these have started.

    Ray's own processes all name it, and so does the JVM of Spark's driver. Workers change how
    they are called, but they are children of the raylet, and RayDP's Java processes are children
    of workers. Children of this process that have nothing to do with it are left alone.
    """
    found: dict[int, Any] = {}
    for child in _children(psutil.Process()):
        if any(str(folder) in part for part in _command(child)):
            for one in (child, *_children(child)):
                found.setdefault(one.pid, one)
    return list(found.values())


def end(processes: Iterable[Any], patience_s: float) -> None:
    """Asks processes to end, waits for that, and kills those that do not."""
    asked = list(processes)
    _signal(asked, "terminate")
    _, alive = psutil.wait_procs(asked, timeout=patience_s)
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
