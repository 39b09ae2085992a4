"""Runs every query of a workload by its own general run, and writes what comes of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from execution.pieces import FOREVER, pieces
from runtime.execution.batch import Batch
from runtime.execution.operator import ALL_QUERIES
from runtime.execution.operators.general.operator import GeneralOperator
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.result_writer import FloatWriter
from runtime.execution.text_dictionary import TextDictionary
from runtime.execution.type_dictionary import TypeDictionary
from runtime.execution.window_partials import PartialAggregates, merge
from runtime.language.query import Query
from runtime.pipeline.engine import Engine
from runtime.types.columns import times_of


class Alone:
    """One query with keys, codes and texts of its own."""

    def __init__(self, query: Query, types: dict[str, pa.DataType], ties: str) -> None:
        self.query, self.types, self.ties = query, types, ties
        self.keys = PartitionIndex({name: types[name] for name in query.partition_by})
        self.codes, self.texts = TypeDictionary(), TextDictionary()
        self.run = self.new_run()
        self.places = [query.partition_by.index(name) for name in query.group_by]
        self.arrivals = 0
        self.turns: list[int] = []
        self.blocks: list[PartialAggregates] = []

    def new_run(self, since: int | None = None) -> GeneralOperator:
        return GeneralOperator(self.query, self.types, self.codes, self.texts, since)

    def process(self, events: pa.RecordBatch) -> None:
        instants = None
        if self.ties == "arrival":
            instants = np.arange(self.arrivals, self.arrivals + events.num_rows)
            self.arrivals += events.num_rows
        parts = (self.keys, self.codes, self.texts, self.types)
        batch = Batch.of(events, *parts, instants)
        for turn in self.turns:
            batch.slots = turned(batch.slots, turn)
        self.run.process(batch)

    def close(self, watermark: int) -> None:
        for closed in self.run.close_windows(watermark):
            slots = closed.slots
            for turn in reversed(self.turns):
                slots = turned(slots, turn)
            self.blocks.append(replace(closed, slots=slots).block(self.keys, self.places))

    def restart(self) -> None:
        """Another run takes up what this one has saved, with its slots in another order."""
        saved = self.run.save()[ALL_QUERIES]
        self.run = self.new_run()
        self.turns.append(self.keys.capacity)
        slots = turned(np.arange(len(saved["slots"])), self.keys.capacity)
        self.run.load(ALL_QUERIES, saved, slots)

    def merged(self) -> PartialAggregates | None:
        folds = [lane.fold for lane in self.query.lanes]
        return merge(self.blocks, folds) if self.blocks else None


def turned(slots: Any, capacity: int) -> Any:
    """Slots in the opposite order. Done twice, it is undone."""
    return np.where(slots < capacity, capacity - 1 - slots, slots).astype(slots.dtype)


def results(
    text: str,
    table: pa.Table,
    cuts: list[int] | None = None,
    *,
    restart: bool = False,
    ties: str = "strict",
    **options: Any,
) -> dict[str, pa.Table]:
    engine = Engine(text, numeric="exact", ties=ties, **options)
    events = engine.prepare(table)
    events = events.take(pc.sort_indices(pa.array(times_of(events))))  # stable
    types = dict(engine.bound.types)
    tables = {}
    for query in engine.workload:
        alone = Alone(query, types, ties)
        for piece in pieces(events, cuts or [], ties):
            alone.process(piece)
            alone.close(int(times_of(piece)[-1]))
            if restart:
                alone.restart()
        alone.close(FOREVER)
        assert query.window.counted or alone.run.statistics().open_windows == 0
        writer = FloatWriter(query, types)
        tables[query.name] = writer.table(alone.merged(), engine.preparer.clock)
    return tables
