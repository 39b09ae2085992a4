"""The processes of a job and their memory, by what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import psutil

from spark_ingest.jvm import SMALL

DRIVER, OBJECT_STORE, OTHER = "driver", "object store", "other"
_ACTORS = {
    "Aggregator": "aggregator",
    "Router": "router",
    "OptimizerActor": "optimizer",
    "MetricsHubActor": "hub",
    "Control": "control",
    "RayDPSparkMaster": "gateway's actor",
}


def _is_ray_java(command: str) -> bool:
    return command.endswith("DefaultWorker") and "java" in command[:50]


# What the command line of a process has, by its kind. Both Java processes below Ray are RayDP's:
# its app master is as small as can be, Spark's executor is not.
_SIGNS: dict[str, Callable[[str], bool]] = {
    "gcs_server": lambda command: "/gcs_server " in command,
    "raylet": lambda command: "/raylet/raylet " in command,
    "Spark driver": lambda command: command.endswith("pyspark-shell"),
    "executor": lambda command: _is_ray_java(command) and SMALL[0] not in command,
    "app master": lambda command: _is_ray_java(command) and SMALL[0] in command,
    "gateway": lambda command: command.endswith("AppMasterEntryPoint"),
}
#: What every job has. A soak without one of them has not looked at all processes.
EXPECTED = (DRIVER, *_ACTORS.values(), *_SIGNS)


def kind_of(command: str) -> str:
    """By the command line. Actors set theirs, with the method that they are in."""
    if command.startswith("ray::"):
        title = command.removeprefix("ray::").split(".")[0].split("(")[0]
        return _ACTORS.get(title, f"Ray's {title}")
    return next((kind for kind, fits in _SIGNS.items() if fits(command)), OTHER)


@dataclass
class Series:
    """The memory of one process: MB at seconds."""

    kind: str
    pid: int
    seconds: list[float] = field(default_factory=list)
    mb: list[float] = field(default_factory=list)

    def add(self, second: float, mb: float) -> None:
        self.seconds.append(second)
        self.mb.append(mb)


class Memory:
    """Samples the private memory of a process and of all below it. What they share is the object
    store: a series of its own."""

    def __init__(self, root: int) -> None:
        self._root = psutil.Process(root)
        self._series: dict[tuple[int, float], Series] = {}
        self._store = Series(OBJECT_STORE, 0)
        self.moments: list[float] = []  #: of all samples

    def sample(self, second: float) -> None:
        self.moments.append(second)
        largest = 0.0
        for process in self._processes():
            try:
                info, began = process.memory_info(), process.create_time()
                command = " ".join(process.cmdline()).strip()
            except psutil.Error:  # it has ended
                continue
            kind = DRIVER if process == self._root else kind_of(command)
            series = self._series.setdefault((process.pid, began), Series(kind, process.pid))
            series.kind = kind  # a worker of Ray becomes an actor
            series.add(second, (info.rss - info.shared) / 1e6)
            largest = max(largest, info.shared / 1e6)
        self._store.add(second, largest)

    @property
    def series(self) -> list[Series]:
        return [*self._series.values(), self._store]

    @property
    def now(self) -> tuple[float, int]:
        """MB of all processes in the last sample, and how many there are."""
        newest = [each.mb[-1] for each in self._series.values() if each.seconds[-1:] == self._last]
        return sum(newest), len(newest)

    @property
    def _last(self) -> list[float]:
        return self.moments[-1:]

    def _processes(self) -> Iterator[psutil.Process]:
        yield self._root
        yield from self._root.children(recursive=True)
