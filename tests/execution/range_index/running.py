"""Puts a workload through ordered runs, and through the plain engine beside it."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from execution.pieces import FOREVER, pieces
from plan.supporting import supports
from runtime.execution.batch import Batch
from runtime.execution.operator import ALL_QUERIES
from runtime.execution.operators.range_index.operator import RangeIndexOperator
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.result_writer import FloatWriter
from runtime.execution.text_dictionary import TextDictionary
from runtime.execution.type_dictionary import TypeDictionary
from runtime.execution.window_partials import PartialAggregates, merge
from runtime.language.query import Query
from runtime.pipeline.engine import Engine, aggregate
from runtime.plan.operators.declaration import PlanContext
from runtime.plan.operators.range_index.declaration import RANGE_INDEX
from runtime.types.columns import times_of


class Together:
    """Queries that share partitions and windows, in one run."""

    def __init__(self, queries: list[Query], types: dict[str, pa.DataType], **options: Any) -> None:
        self.queries, self.types, self.options = queries, types, options
        attributes = queries[0].partition_by
        self.keys = PartitionIndex({name: types[name] for name in attributes})
        self.codes, self.texts = TypeDictionary(), TextDictionary()
        self.run = RangeIndexOperator(queries, types, self.codes, **options)
        self.blocks: dict[str, list[PartialAggregates]] = {query.name: [] for query in queries}
        self.arrivals = 0

    def process(self, events: pa.RecordBatch, ties: str = "strict") -> None:
        instants = None
        if ties == "arrival":
            instants = np.arange(self.arrivals, self.arrivals + events.num_rows)
            self.arrivals += events.num_rows
        parts = (self.keys, self.codes, self.texts, self.types)
        self.run.process(Batch.of(events, *parts, instants))

    def close(self, watermark: int) -> None:
        for closed in self.run.close_windows(watermark):
            (query,) = [query for query in self.queries if query.name == closed.query]
            places = [query.partition_by.index(name) for name in query.group_by]
            self.blocks[query.name].append(closed.block(self.keys, places))

    def restart(self) -> None:
        """Another run takes up what this one has saved."""
        saved = self.run.save()[ALL_QUERIES]
        self.run = RangeIndexOperator(self.queries, self.types, self.codes, **self.options)
        self.run.load(ALL_QUERIES, saved, np.arange(self.keys.capacity))

    def table(self, query: Query, clock: Any) -> pa.Table:
        blocks = self.blocks[query.name]
        merged = merge(blocks, [lane.fold for lane in query.lanes]) if blocks else None
        return FloatWriter(query, self.types).table(merged, clock)


def results(
    text: str,
    table: pa.Table,
    cuts: list[int] | None = None,
    *,
    ties: str = "strict",
    restart: bool = False,
    sharing: str = "dynamic",
    since: int | None = None,
    **options: Any,
) -> tuple[dict[str, pa.Table], list[RangeIndexOperator]]:
    """Of the queries that ordered runs take."""
    engine = Engine(text, numeric="exact", ties=ties, **options)
    events = engine.prepare(table)
    events = events.take(pc.sort_indices(pa.array(times_of(events))))  # stable
    types = {field.name: field.type for field in events.schema}
    taken = [query for query in engine.workload if supports(RANGE_INDEX, query, types)]
    tables, runs = {}, []
    by_key: dict[Any, list[Query]] = {}
    for query in taken:
        by_key.setdefault(query.partition_by, []).append(query)
    for alike in by_key.values():
        for node in RANGE_INDEX.arrange(alike, PlanContext(types)):
            queries = list(node.queries)
            together = Together(queries, types, sharing=sharing, since=since)
            for piece in pieces(events, cuts or [], ties):
                together.process(piece, ties)
                together.close(int(times_of(piece)[-1]))
                if restart:
                    together.restart()
            together.close(FOREVER)
            counted = queries[0].window.counted
            assert counted or together.run.statistics().open_windows == 0
            assert counted or not together.run.live(together.keys.capacity).any()
            runs.append(together.run)
            for query in queries:
                tables[query.name] = together.table(query, engine.preparer.clock)
    return tables, runs


def check(text: str, table: pa.Table, cuts: list[int] | None = None, **options: Any) -> None:
    """Equal to the plain engine: to the last bit while numbers are whole and below 2**53."""
    same = {key: options[key] for key in ("ties", "time_unit") if key in options}
    wanted = aggregate(text, table, numeric="exact", **same)
    got, _ = results(text, table, cuts, **options)
    assert got, "no query was taken"
    for name, found in got.items():
        assert_equal(found, wanted[name], f"{name} of\n{text}")


def assert_equal(got: pa.Table, wanted: pa.Table, what: str) -> None:
    assert got.num_rows == wanted.num_rows, what
    for name in wanted.schema.names:
        if name.endswith("_log2"):
            continue
        for row, exact in enumerate(wanted.column(name).to_pylist()):
            value = got.column(name)[row].as_py()
            if value == exact or (value is not None and str(value) == exact):
                continue
            assert value is not None, what
            assert exact is not None, what
            if value == float("inf"):
                log = got.column(f"{name}_log2")[row].as_py()
                bits = int(exact).bit_length() - 60
                exact_log = float(np.log2(int(exact) >> bits)) + bits
                assert abs(log - exact_log) < 1e-9 * max(1.0, abs(exact_log)), what
            elif isinstance(exact, str) and abs(int(exact)) < 2**53:
                assert value == int(exact), what
            else:
                assert abs(value - float(exact)) <= 1e-9 * max(abs(float(exact)), 1.0), what
