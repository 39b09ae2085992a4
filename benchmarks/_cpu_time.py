"""CPU time of a job by kind of process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import psutil

# What a process is, by what its command line has; whatever else there is belongs to Ray. Executors
# are the only ones that are told Spark's port; Spark on Ray has two masters in Java, too.
KINDS = (
    ("-Dspark.driver.port=", "Spark executors"),
    ("org.apache.spark.deploy.SparkSubmit", "Spark's driver"),
    ("AppMasterEntryPoint", "Spark's masters"),
    ("DefaultWorker", "Spark's masters"),
    ("ray::Aggregator", "aggregators"),
    ("ray::Router", "routers"),
    ("ray::", "other actors"),
)
WITH_OPTIMIZER = (("ray::OptimizerActor", "optimizer"), *KINDS)

Kinds = Sequence[tuple[str, str]]


def cpu_time(work: Callable[[], Any], kinds: Kinds = KINDS) -> tuple[float, dict[str, float]]:
    """Seconds of a work, and CPU seconds of each kind of process below this one."""
    before, began = _spent(kinds), time.perf_counter()
    work()
    wall, after = time.perf_counter() - began, _spent(kinds)
    found: dict[str, float] = {}
    for process, (kind, seconds) in after.items():
        spent = seconds - before.get(process, (kind, 0.0))[1]
        found[kind] = found.get(kind, 0.0) + spent
    return wall, found


def kind_of(command: str, kinds: Kinds = KINDS) -> str:
    return next((kind for mark, kind in kinds if mark in command), "Ray")


def _spent(kinds: Kinds) -> dict[int, tuple[str, float]]:
    me = psutil.Process()
    found = {}
    for process in (me, *me.children(recursive=True)):
        try:
            spent = process.cpu_times()
            kind = "driver" if process == me else kind_of(" ".join(process.cmdline()), kinds)
        except psutil.Error:  # it has ended
            continue
        found[process.pid] = kind, spent.user + spent.system
    return found
