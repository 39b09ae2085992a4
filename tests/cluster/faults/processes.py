"""The processes of a job, by what they do."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from cluster import proc
from spark_ingest.jvm import SMALL
from tools.patience import PATIENCE_S

TITLES = {
    "aggregator": "ray::Aggregator",
    "router": "ray::Router",
    "optimizer": "ray::Optimizer",
    "hub": "ray::MetricsHubActor",
    "control": "ray::Control",
    "rehearsal": "ray::RehearsalActor.rehearse",
}


def _is_ray_java(said: str) -> bool:
    return said.endswith("DefaultWorker") and "java" in said[:50]


# What its command line says of a process, by its kind. Both Java processes below Ray are RayDP's:
# its app master is as small as can be, Spark's executor is not.
_SIGNS: dict[str, Callable[[str], bool]] = {
    "gcs_server": lambda said: "/gcs_server " in said,
    "raylet": lambda said: "/raylet/raylet " in said,
    "spark_driver": lambda said: said.endswith("pyspark-shell"),
    "executor": lambda said: _is_ray_java(said) and SMALL[0] not in said,
    "app_master": lambda said: _is_ray_java(said) and SMALL[0] in said,
    "gateway": lambda said: said.endswith("AppMasterEntryPoint"),
}


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


def of(kind: str, root: int | None = None) -> list[int]:
    below = proc.tree(root or os.getpid())
    return [pid for pid in below if _is(kind, command(pid)) and proc.alive(pid)]


def _is(kind: str, said: str) -> bool:
    return said.startswith(TITLES[kind]) if kind in TITLES else _SIGNS[kind](said)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def stop(pid: int) -> None:
    """It stays, and does nothing more."""
    os.kill(pid, signal.SIGSTOP)


def resident(pids: list[int]) -> int:
    """Bytes of memory, without those that are shared with others."""
    total = 0
    for pid in pids:
        try:
            resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
        except OSError:
            continue
        total += (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    return total


def wait_for_end(pids: list[int]) -> None:
    """Nothing of them stays."""
    until = time.monotonic() + PATIENCE_S
    while left := [pid for pid in pids if proc.alive(pid)]:
        assert time.monotonic() < until, list(map(command, left))
        time.sleep(0.1)
