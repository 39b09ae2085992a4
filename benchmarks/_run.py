"""Times the engine and `group_by` over tables in memory."""

from __future__ import annotations

import gc
import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from runtime.pipeline.engine import Engine, Results

BATCH_ROWS = 1_048_576
WARM_ROWS = 20_000


def engine(workload: str, **options: Any) -> Engine:
    """An engine for times in microseconds. An option that it does not know is left out."""
    known = inspect.signature(Engine).parameters
    options = {name: value for name, value in options.items() if name in known}
    return Engine(workload, time_unit="us", **{"numeric": "float", "kernels": "exact", **options})


def knows(option: str) -> bool:
    return option in inspect.signature(Engine).parameters


def seconds(workload: str, table: pa.Table, **options: Any) -> float:
    """How long the events of a table take, prepared already, until all results are there."""
    return run(workload, table, **options)[0]


def run(workload: str, table: pa.Table, **options: Any) -> tuple[float, Engine, list[Results]]:
    """As `seconds`, with the engine and its results."""
    made = engine(workload, **options)
    made.bind(table.schema)
    batches = [made.prepare(batch) for batch in table.to_batches(max_chunksize=BATCH_ROWS)]
    results: list[Results] = []

    def work() -> None:
        for batch in batches:
            results.append(made.execute(batch))
        results.append(made.finish())

    return clock(work), made, results


def warm(workload: str, table: pa.Table, **options: Any) -> None:
    """Compiles whatever a workload needs, over the first events."""
    seconds(workload, table.slice(0, WARM_ROWS), **options)


def group_by_seconds(table: pa.Table) -> float:
    return clock(lambda: group_by(table))


def group_by(table: pa.Table) -> pa.Table:
    """COUNT and SUM by key, single-threaded."""
    groups = pa.TableGroupBy(table, "key", use_threads=False)
    return groups.aggregate([("x", "count"), ("x", "sum")])


def best(works: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """The shortest time of each. They take turns, so that a slow spell of the machine hits all."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(work())
    return {name: min(each) for name, each in times.items()}


def clock(work: Callable[[], Any]) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    finally:
        gc.enable()


@contextmanager
def one_thread() -> Iterator[None]:
    """Arrow's; kernels have one anyway."""
    before = pa.cpu_count()
    pa.set_cpu_count(1)
    try:
        yield
    finally:
        pa.set_cpu_count(before)
