"""A file of 2 GB is read by two cores, and memory stays as it is after the first third."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks._soak.processes import Memory, Series
from cluster.jobs import JobInput, on_cluster
from runtime.language.parser import parse

SIZE = 2 << 30
BLOCK = 500_000
# A process may hold this much more in the last third than in the second.
MOST_PART, MOST_MB = 0.1, 40.0
QUERIES = parse("RETURN driver, COUNT(*) AS n PATTERN Request GROUP-BY driver WITHIN 60 seconds")
NAMES = ("time", "type", "driver", "speed", "note")


def rows(first: int) -> pa.Table:
    """A thousand rows a second, two seconds out of order."""
    draw = np.random.default_rng(first)
    times = (first + np.arange(BLOCK)) // 1_000 + draw.integers(0, 3, BLOCK)
    types = np.array(["Request", "Travel"])[draw.integers(0, 2, BLOCK)]
    drivers = np.char.add("driver ", draw.integers(0, 100, BLOCK).astype(str))
    speeds = draw.integers(0, 1_000, BLOCK) / 8
    notes = np.full(BLOCK, "what no query uses")
    return pa.table([pa.array(each) for each in (times, types, drivers, speeds, notes)], NAMES)


def csv_lines(table: pa.Table) -> pa.Array:
    texts = [column.combine_chunks().cast(pa.string()) for column in table.columns]
    return pc.binary_join_element_wise(*texts, ",")


def json_lines(table: pa.Table) -> pa.Array:
    texts = {name: table[name].combine_chunks().cast(pa.string()) for name in table.schema.names}
    quoted = {name: pa.types.is_string(table.schema.field(name).type) for name in texts}
    parts: list[object] = []
    for name, values in texts.items():
        quote = '"' if quoted[name] else ""
        parts += [f'{", " if parts else "{"}"{name}": {quote}', values, quote]
    return pc.binary_join_element_wise(*parts, "}", "")


LINES = {"csv": csv_lines, "jsonl": json_lines}


def write(path: Path) -> tuple[int, int]:
    """Returns how many rows and how many requests it has."""
    count = requests = 0
    lines_of = LINES[path.suffix[1:]]
    with path.open("wb") as file:
        if path.suffix == ".csv":
            file.write(",".join(NAMES).encode() + b"\n")
        while file.tell() < SIZE:
            table = rows(count)
            lines = pc.binary_join_element_wise(lines_of(table), "\n", "")
            file.write(lines.buffers()[2].to_pybytes())
            count += BLOCK
            requests += pc.sum(pc.equal(table["type"], "Request")).as_py()
    return count, requests


class Sampler:
    """Looks at the tasks of Spark and at the memory of all processes, from a thread of its own."""

    def __init__(self, spark) -> None:
        self.most_tasks = 0
        self.memory = Memory(psutil.Process().pid)
        self._tracker = spark.sparkContext.statusTracker()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        self._thread.join()

    def thirds(self, kind: str) -> Iterator[tuple[float, float, float]]:
        """The median MB of each process of a kind in each third."""
        begun, ended = self.memory.moments[0], self.memory.moments[-1]
        for each in self.memory.series:
            if each.kind == kind:
                yield tuple(_median(each, begun, ended, third) for third in range(3))

    def _run(self) -> None:
        began = time.monotonic()
        while not self._stop.wait(0.2):
            for stage in self._tracker.getActiveStageIds():
                info = self._tracker.getStageInfo(stage)
                if info is not None:
                    self.most_tasks = max(self.most_tasks, info.numActiveTasks)
            second = time.monotonic() - began
            if not self.memory.moments or second - self.memory.moments[-1] > 1:
                self.memory.sample(second)


def _median(series: Series, begun: float, ended: float, third: int) -> float:
    length = (ended - begun) / 3
    start = begun + third * length
    inside = zip(series.seconds, series.mb, strict=True)
    found = [mb for second, mb in inside if start <= second <= start + length]
    return median(found) if found else 0.0


@pytest.mark.slow
@pytest.mark.parametrize("suffix", LINES)
def test_a_large_file(spark, actor_pool, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rides.{suffix}"
    count, requests = write(path)
    pool = actor_pool(2)
    began = time.monotonic()
    with Sampler(spark) as seen:
        found = on_cluster(spark, pool, JobInput(QUERIES, path), tmp_path / "checkpoint")
    print(f"{suffix}: {count:,} rows in {time.monotonic() - began:.0f} s, {found.epochs} epochs")
    (table,) = found.tables.values()
    assert (found.rows, found.events, found.dead.num_rows) == (count, count, 0)
    assert pc.sum(table["n"]).as_py() == requests
    assert found.epochs > SIZE // (64 << 20)
    assert seen.most_tasks >= 2
    for kind in ("executor", "aggregator", "router", "driver"):
        for first, second, third in seen.thirds(kind):
            print(f"{kind}: {first:.0f}, {second:.0f}, {third:.0f} MB")
            assert third <= second * (1 + MOST_PART) + MOST_MB, kind
