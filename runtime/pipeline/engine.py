"""Runs a workload in one process: rows in, result tables out, windows closed by the watermark.

    engine = Engine(workload, lateness=10_000_000)
    for batch in batches:
        for query, table in engine.process(batch).items(): ...
    engine.finish()

It is an extractor, one shard and a bound workload: the parts that a cluster runs in several
processes. It is not shared between threads. Results depend on the events and the watermarks, never
on where batches are cut.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from runtime.errors import HamletError, check_choice
from runtime.execution.partials import Partials
from runtime.language.parser import parse
from runtime.language.query import Query, Workload
from runtime.pipeline.block import RowBlock
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.event_extractor import EventExtractor
from runtime.pipeline.normalize import Preparer, Raw, Rows
from runtime.pipeline.reorder_buffer import split_late
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.pipeline.shard import Shard
from runtime.pipeline.shard_state import SavedShard, check_compatible
from runtime.plan.cost_model import Samples
from runtime.plan.decisions import Decisions
from runtime.plan.observations import Observations
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan

Results: TypeAlias = dict[str, pa.Table]

PIECE_ROWS = 65_536
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Engine:
    def __init__(
        self,
        workload: Workload | str,
        *,
        numeric: str = "float",
        ties: str = "strict",
        sharing: str = "dynamic",
        kernels: str = "auto",
        plan: SharingPlan | None = None,
        lateness: int | None = None,
        time_column: str = "time",
        type_column: str = "type",
        time_unit: str | None = None,
    ) -> None:
        """With a `lateness`, in microseconds, every `process` is an epoch that moves the watermark;
        without it only `advance` and `finish` move it."""
        settings = Settings(numeric, ties, sharing, kernels, plan)
        check_choice("time_unit", time_unit, (None, "s", "ms", "us", "ns"))
        if lateness is not None and (not _is_whole(lateness) or lateness < 0):
            raise HamletError(
                f"lateness is {lateness!r}, but must be whole microseconds, 0 or more"
            )
        parsed = parse(workload) if isinstance(workload, str) else workload
        if plan is not None:
            settings.check_plan(plan, parsed.queries)
        self.late_rows = 0
        self.shard = Shard(settings, parsed, InputFormat(time_column, type_column, time_unit))
        self._lateness = lateness
        self._bound: BoundWorkload | None = None
        self._extractor: EventExtractor | None = None
        self._late: list[pa.RecordBatch] = []

    @classmethod
    def of(cls, workload: Workload, settings: Settings, input_format: InputFormat) -> Engine:
        """An engine for rows in this format, whatever columns they turn out to have."""
        return cls(
            workload,
            numeric=settings.numeric,
            ties=settings.ties,
            sharing=settings.sharing,
            kernels=settings.kernels,
            plan=settings.plan,
            time_column=input_format.time_column,
            type_column=input_format.type_column,
            time_unit=input_format.time_unit,
        )

    @property
    def workload(self) -> Workload:
        return self.shard.workload

    # ---- the columns of the input ----------------------------------------------------------

    def bind(self, columns: pa.Schema, since: int | None = None) -> None:
        """Checks the workload against the columns of the input, before any row is read. With
        `since` (microseconds), only windows that start then or later are reported."""
        bound = self._bind(replace(self.shard.input_format, columns=columns))
        if self._bound is None:
            self.shard.bind(bound.input_format, since)
            self._bound, self._extractor = bound, bound.extractor()

    def _bind(self, input_format: InputFormat) -> BoundWorkload:
        return BoundWorkload(self.workload, input_format, self.shard.settings.numeric)

    @property
    def bound(self) -> BoundWorkload:
        """The workload with the columns of the input."""
        if self._bound is None:
            raise HamletError("the columns of the input are not known before the first batch")
        return self._bound

    @property
    def extractor(self) -> EventExtractor:
        if self._extractor is None:
            raise HamletError("the columns of the input are not known before the first batch")
        return self._extractor

    @property
    def preparer(self) -> Preparer:
        return self.extractor.preparer

    def _update_clock(self) -> None:
        """The first row decides whether times in text are integers or ISO 8601. After that,
        windows can be checked against them."""
        clock, input_format = self.preparer.clock, self.shard.input_format
        if clock.decided and not self.bound.clock.decided:
            self.shard.input_format = replace(input_format, clock=clock.type)
            self._bound = self._bind(self.shard.input_format)

    # ---- rows in, tables out ---------------------------------------------------------------

    def process(self, batch: pa.RecordBatch | pa.Table, **where: Any) -> Results:
        """Processes rows in any order. Events before the watermark are late and set aside."""
        self.shard.check_running()
        for piece in _pieces(batch):
            self._accept(self._block(piece, **where))
        newest = self.shard.newest
        if self._lateness is None or newest is None:
            return {}
        return self._tables(self.shard.advance(newest - self._lateness))

    def advance(self, watermark: int | datetime) -> Results:
        """Promises that no event before the watermark will come (microseconds, or a datetime)."""
        self.shard.check_running()
        if isinstance(watermark, datetime):
            moment = watermark if watermark.tzinfo else watermark.replace(tzinfo=UTC)
            watermark = (moment - EPOCH) // timedelta(microseconds=1)
        elif not _is_whole(watermark):
            raise HamletError(
                f"the watermark is {watermark!r}, but must be whole microseconds or a datetime"
            )
        return self._tables(self.shard.advance(watermark))

    def finish(self) -> Results:
        """Ends the input: every window closes, and no more rows are accepted."""
        return self._tables(self.shard.finish())

    def prepare(self, batch: pa.RecordBatch | pa.Table, **where: Any) -> pa.RecordBatch:
        """Checks rows and returns their events, for `execute`. Invalid rows become dead letters."""
        return self.extract(self._block(batch, **where))

    def extract(self, block: RowBlock) -> pa.RecordBatch:
        """As `prepare`, for a block that a reader produced."""
        events = self.extractor.extract(block)
        self._update_clock()
        return events

    def execute(self, events: pa.RecordBatch) -> Results:
        """Computes prepared events that are in order and follow all earlier ones. Windows that end
        by the last of them close."""
        return self._tables(self.shard.execute(events))

    def empty_results(self) -> Results:
        """A result table without rows for each query."""
        return self.bound.empty()

    def _block(
        self,
        batch: pa.RecordBatch | pa.Table,
        source: str = "input",
        rows: Rows | None = None,
        raw: Raw | None = None,
    ) -> RowBlock:
        """`rows` are the row numbers in the source; by default they continue."""
        if self._bound is None:
            self.bind(batch.schema)
        if rows is None:
            first = self.preparer.rows
            rows = np.arange(first, first + batch.num_rows, dtype=np.int64)
        return RowBlock(batch, source, rows, no_dead(), raw)

    def _accept(self, block: RowBlock) -> None:
        events = self.extractor.prepare(block).events
        self._update_clock()
        in_time, late = split_late(events, self.shard.watermark)
        self.extractor.count(in_time)
        self.shard.accept(events)
        if late.num_rows:
            self.late_rows += late.num_rows
            self._late.append(late)

    def _tables(self, partials: Partials) -> Results:
        return {} if self._bound is None else self._bound.tables([partials])

    # ---- the workload and how it shares ----------------------------------------------------

    def add(
        self,
        query: Query | str | tuple[Query, ...],
        since: int | None = None,
        plan: SharingPlan | None = None,
    ) -> None:
        """Adds a query, or several. They report windows that start after every event seen so far,
        or at `since` or later. `plan` is for the workload after the change; without it the new
        queries share as much as they can."""
        added = tuple(parse(query)) if isinstance(query, str) else query
        added = added if isinstance(added, tuple) else (added,)
        if plan is not None:
            grown = self.workload.with_queries(added)
            self.shard.settings.check_plan(plan, grown.queries)
        bound = None if self._bound is None else self._bound.with_changes(added, ())
        self.shard.add(added, since, plan)
        self._rebind(bound)

    def remove(self, name: str) -> None:
        """Removes a query; its open windows are dropped."""
        self.shard.remove(name)
        self._rebind(None if self._bound is None else self._bound.with_changes((), (name,)))

    def _rebind(self, bound: BoundWorkload | None) -> None:
        """A changed workload uses other attributes; its extractor continues the counts."""
        if bound is not None:
            before = self.extractor
            self._bound, self._extractor = bound, bound.extractor()
            self._extractor.continue_from(before)

    def set_policy(self, policy: Policy) -> None:
        """Decides by these coefficients from the next burst on. Results do not depend on them."""
        if not isinstance(policy, Policy):
            raise HamletError(f"the policy must be a Policy, but is {policy!r}")
        self.shard.backend.set_policy(policy)

    def set_plan(self, plan: SharingPlan) -> None:
        """Shares by another plan from the next pane on. Results do not depend on it."""
        self.shard.settings.check_plan(plan, self.workload.queries)
        self.shard.set_plan(plan)

    # ---- checkpoints -----------------------------------------------------------------------

    def checkpoint(self) -> bytes:
        """All state, as an Arrow file. It leaves out late and invalid rows not taken yet."""
        if self._bound is None:
            raise HamletError("there is nothing to save before the first event")
        return self.shard.save(
            rows=self.preparer.rows,
            dead=dict(self.preparer.dead),
            late_rows=self.late_rows,
            null_keys=dict(self.null_keys),
        )

    def restore(self, data: bytes) -> None:
        """Continues from a checkpoint in an engine that has seen no event. Queries that are not in
        the checkpoint start here; queries that are only in the checkpoint are dropped."""
        if self._bound is not None:
            raise HamletError("only an engine that has seen no event can restore a checkpoint")
        saved = SavedShard.read(data, self.shard.input_format)
        shard = self.shard
        check_compatible(saved.header, shard.settings, shard.input_format, shard.workload)
        bound = self._bind(saved.input_format)
        self.shard.restore(saved)
        self._bound, self._extractor = bound, bound.extractor()
        self.late_rows = saved.header.late_rows
        self.null_keys.update(saved.header.null_keys)
        self.preparer.rows, self.preparer.dead = saved.header.rows, Counter(saved.header.dead)

    # ---- side outputs and statistics --------------------------------------------------------

    @property
    def null_keys(self) -> Counter[str]:
        """How many events have a null in each partition attribute."""
        return Counter() if self._extractor is None else self._extractor.stats.null_keys

    def take_dead(self) -> pa.Table:
        """The invalid rows since the last call, each with its reason."""
        if self._extractor is None:
            return no_dead()
        stats = self._extractor.stats
        taken, stats.dead = stats.dead, []
        return pa.concat_tables(taken) if taken else no_dead()

    def take_late(self) -> pa.Table:
        """The late events since the last call."""
        taken, self._late = self._late, []
        if not taken:
            return pa.table({}) if self._bound is None else self.shard.schema.empty_table()
        tables = [pa.Table.from_batches([batch]) for batch in taken]
        return pa.concat_tables(tables, promote_options="default")

    def open_windows(self) -> int:
        """How many windows hold state, over all queries."""
        return self.shard.backend.open_windows()

    def state_bytes(self) -> int:
        """The memory of partitions and their windows; the exact engine does not count it."""
        return self.shard.backend.state_bytes()

    def decisions(self) -> list[Decisions]:
        """The sharing decisions of each share group; the exact engine makes none."""
        return self.shard.backend.decisions()

    def take_decisions(self) -> list[Decisions]:
        """The decisions since the last call, including those of removed share groups."""
        return self.shard.take_decisions()

    def decision_seconds(self) -> float:
        """The time spent on decisions: their number times the measured time of one."""
        return self.shard.backend.decision_seconds()

    def take_samples(self) -> Samples:
        """The bursts timed since the last call, at most 512 per share group. A `CostModelFitter`
        fits the coefficients of the cost model to them."""
        return self.shard.backend.take_samples()

    def take_observations(self) -> Observations:
        """The observations since the last call, for an optimizer."""
        return self.shard.take_observations()


def aggregate(workload: Workload | str, table: pa.Table, **options: Any) -> Results:
    """The results of every query over a whole table."""
    engine = Engine(workload, **options)
    engine.process(table)
    finished = engine.finish()
    return {**engine.empty_results(), **finished}


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _pieces(batch: pa.RecordBatch | pa.Table) -> list[pa.RecordBatch]:
    """A table may be longer than one Arrow batch can be."""
    if isinstance(batch, pa.RecordBatch) or batch.num_rows <= PIECE_ROWS:
        return [batch]
    return batch.to_batches(max_chunksize=PIECE_ROWS)  # type: ignore[no-any-return]
