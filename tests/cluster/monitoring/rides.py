"""A stream of rides in files, with rows that are late or no events, and queries over it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from runtime.generate import generate

ROOT = Path(__file__).parents[3]
SHARING = (ROOT / "examples" / "sharing" / "workload.sase").read_text()
#: They agree on no event, so that it seldom pays to share: bursts are split.
APART = """
QUERY calm
RETURN district, COUNT(*) AS trends
PATTERN SEQ(Pickup, Travel T+)
WHERE [rider] AND T.speed < 20
GROUP-BY district
WITHIN 10 seconds

QUERY fast
RETURN district, COUNT(*) AS trends
PATTERN SEQ(Pickup, Travel T+)
WHERE [rider] AND T.speed >= 20
GROUP-BY district
WITHIN 10 seconds
"""
MORE = """
QUERY added
RETURN district, COUNT(*) AS trends
PATTERN SEQ(Accept, Travel T+)
WHERE [driver]
GROUP-BY district
WITHIN 10 seconds
"""
ROWS = 6_000  # of a file: 36 seconds of the stream
LATE, BAD = 20, 10
ENDLESS = 10**12


def stream(seed: int = 2) -> Iterator[pa.Table]:
    """One file after the other, without an end. In each but the first some rows are five minutes
    late, and some have no time or no type."""
    batches = generate("ridesharing", events=ENDLESS, seed=seed, batch_rows=ROWS)
    for number, batch in enumerate(batches):
        table = pa.Table.from_batches([batch])
        yield _spoiled(table, number) if number else table


def files(count: int, seed: int = 2) -> list[pa.Table]:
    return list(islice(stream(seed), count))


def _spoiled(table: pa.Table, seed: int) -> pa.Table:
    chosen = np.random.default_rng(seed).choice(table.num_rows, LATE + 2 * BAD, replace=False)
    late, untimed, untyped = np.split(chosen, [LATE, LATE + BAD])
    earlier = pc.subtract(table["time"], pa.scalar(timedelta(minutes=5)))
    times = pc.if_else(_at(table, late), earlier, table["time"])
    times = pc.if_else(_at(table, untimed), pa.scalar(None, times.type), times)
    types = pc.if_else(_at(table, untyped), pa.scalar(None, pa.string()), table["type"])
    return table.set_column(0, "time", times).set_column(1, "type", types)


def _at(table: pa.Table, rows: np.ndarray) -> pa.Array:
    found = np.zeros(table.num_rows, bool)
    found[rows] = True
    return pa.array(found)


def put(folder: Path, number: int, table: pa.Table) -> None:
    """A file appears whole."""
    waiting = folder / f".{number:05d}"
    pq.write_table(table, waiting)
    waiting.rename(folder / f"{number:05d}.parquet")


class Feeder(threading.Thread):
    """Lets a file appear every so many seconds, until it is stopped."""

    def __init__(self, folder: Path, tables: Iterable[pa.Table], seconds: float) -> None:
        super().__init__(name="feeder", daemon=True)
        self._folder, self._tables, self._seconds = folder, tables, seconds
        self._stopped = threading.Event()

    def run(self) -> None:
        for number, table in enumerate(self._tables):
            put(self._folder, number, table)
            if self._stopped.wait(self._seconds):
                return

    def stop(self) -> None:
        self._stopped.set()
        self.join()
