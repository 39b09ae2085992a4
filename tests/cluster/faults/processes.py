"""The processes of a job, by what they do."""

import os
import signal
from pathlib import Path

from cluster import proc
from spark_ingest.jvm import SMALL

TITLES = {
    "aggregator": "ray::Aggregator",
    "router": "ray::Router",
    "optimizer": "ray::Optimizer",
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
    if kind in TITLES:
        return said.startswith(TITLES[kind])
    # Spark's executor: Java below Ray, as RayDP's master is, but not as small.
    return said.endswith("DefaultWorker") and "java" in said[:50] and SMALL[0] not in said


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


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
