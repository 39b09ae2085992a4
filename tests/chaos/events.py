"""The stream of a history: what is fed to a job, and what the job should make of it.

A file is an epoch of its own (see `cluster.faults.stream`), so what is late follows from the order
of the files. Records of a topic are read in epochs that nobody can foresee, so none of them is
late.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Producer

from chaos.history import Counts, Place
from cluster.faults import stream
from tools.patience import PATIENCE_S

FILE_LATENESS = stream.LATENESS
FILE_LATENESS_MS = stream.LATENESS_MICROS // 1000
# More than any row of `stream.table` is behind.
TOPIC_LATENESS = "60s"
PARTITIONS = 2


class Events:
    """The tables that were fed so far. The position of a job is given in rows of them."""

    def __init__(self, seed: int, lateness: float = math.inf) -> None:
        """`lateness` in milliseconds; nothing is late without it."""
        self._seed = seed
        self._lateness = lateness
        self._tables: list[pa.Table] = []
        self._rows = [0]
        self._newest = [-math.inf]
        self.late: list[list[int]] = []
        self.dead: list[list[int]] = []

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def rows(self) -> int:
        return self._rows[-1]

    def table(self, number: int) -> pa.Table:
        return self._tables[number]

    def next(self) -> pa.Table:
        return self._add(stream.table(len(self), seed=self._seed))

    def end(self, rows: int = 1) -> pa.Table:
        """What closes every window."""
        return self._add(pa.concat_tables([stream.end(len(self))] * rows))

    def _add(self, table: pa.Table) -> pa.Table:
        bound = self._newest[-1] - self._lateness
        times, types = (table[name].to_pylist() for name in ("time", "type"))
        dead = [row for row in range(len(times)) if times[row] is None or types[row] is None]
        valid = sorted(set(range(len(times))).difference(dead))
        self.dead.append(dead)
        self.late.append([row for row in valid if times[row] < bound])
        self._newest.append(max(self._newest[-1], *(times[row] for row in valid)))
        self._rows.append(self.rows + table.num_rows)
        self._tables.append(table)
        return table

    # ---- what a job should make of them ----------------------------------------------------

    def tables_in(self, rows: int) -> int:
        """How many tables are taken when so many rows are."""
        return sum(each <= rows for each in self._rows[1:])

    def newest(self, rows: int) -> float:
        """The largest time in the first rows."""
        return self._newest[self.tables_in(rows)]

    def watermark(self, rows: int) -> float:
        return self.newest(rows) - self._lateness

    @property
    def counts(self) -> Counts:
        late, dead = (sum(map(len, each)) for each in (self.late, self.dead))
        return Counts(self.rows, self.rows - late - dead, late, dead)

    def clean(self) -> pa.Table:
        """All rows that are neither late nor dead."""
        kept = []
        for number, table in enumerate(self._tables):
            gone = pa.array(self.late[number] + self.dead[number], pa.int64())
            there = pc.invert(pc.is_in(pa.array(range(table.num_rows)), gone))
            kept.append(table.select(["time", "type", "driver", "district", "value"]).filter(there))
        return pa.concat_tables(kept)


class Feed(Protocol):
    """Brings tables to where a job reads them."""

    events: Events

    def feed(self, tables: int) -> None: ...

    def end(self) -> None:
        """The last one, which closes every window."""

    def places(self, rows: list[list[int]]) -> Counter[Place]:
        """What the job calls these rows of each table."""


class FolderFeed:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.events = Events(seed, FILE_LATENESS_MS)

    def feed(self, tables: int) -> None:
        for _ in range(tables):
            number = len(self.events)
            stream.put(self.folder, number, self.events.next())

    def end(self) -> None:
        number = len(self.events)
        stream.put(self.folder, number, self.events.end())

    def put_back(self, number: int) -> None:
        stream.put(self.folder, number, self.events.table(number))

    def places(self, rows: list[list[int]]) -> Counter[Place]:
        return Counter(
            (f"{number:05d}.parquet", row) for number, there in enumerate(rows) for row in there
        )


class TopicFeed:
    """Rows go to the partitions in turn, so the number of a row gives its partition and offset."""

    def __init__(self, address: str, topic: str, seed: int) -> None:
        self.events = Events(seed)
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "enable.idempotence": True,
                "log_level": 0,
                "queue.buffering.max.messages": 1_000_000,
            }
        )

    def feed(self, tables: int) -> None:
        """Sends when the broker is there."""
        for _ in range(tables):
            self._send(self.events.next())

    def end(self) -> None:
        """One in each partition."""
        self._send(self.events.end(PARTITIONS))
        assert self._producer.flush(PATIENCE_S) == 0

    def _send(self, table: pa.Table) -> None:
        first = self.events.rows - table.num_rows
        for number, row in enumerate(table.to_pylist(), first):
            self._producer.produce(self._topic, json.dumps(row), partition=number % PARTITIONS)
        self._producer.poll(0)

    def places(self, rows: list[list[int]]) -> Counter[Place]:
        found: Counter[Place] = Counter()
        first = 0
        for number, there in enumerate(rows):
            for row in there:
                place = first + row
                found[f"{self._topic}/{place % PARTITIONS}", place // PARTITIONS] += 1
            first += self.events.table(number).num_rows
        return found
