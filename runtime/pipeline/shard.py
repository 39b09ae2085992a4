"""Computes the queries of one routing group over the keys of one shard: events in, partials out.

Events wait in the reorder buffer until the watermark passes them. A bounded input has no watermark
until it was read to its end; until then its events are spooled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from runtime.errors import HamletError
from runtime.execution.backend import CompiledBackend
from runtime.execution.context import ExecutionOptions
from runtime.execution.exact.backend import ExactBackend
from runtime.execution.exact.executor import FOREVER
from runtime.execution.partials import Partials, merge_partials
from runtime.execution.state_file import StateHeader, fingerprint
from runtime.language.query import Query, Workload
from runtime.pipeline.reorder_buffer import ReorderBuffer, ordered
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.pipeline.shard_state import SavedShard, check_compatible, input_of, write_shard
from runtime.pipeline.spool import Spool
from runtime.plan.decisions import Decisions
from runtime.plan.observations import Observations
from runtime.plan.operators.graphlet.shared_subpattern import check_plan
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan
from runtime.types.columns import PANE, TIME, TYPE, times_of


@dataclass(frozen=True)
class ShardStatistics:
    """The size of the state of one or more shards. `plan_version` is the plan in use; a newer plan
    takes effect with the next pane."""

    open_windows: int = 0
    waiting_rows: int = 0  #: ahead of the watermark, or spooled
    state_bytes: int = 0  #: of partitions and windows; the exact engine does not count them
    partitions: int = 0
    live_graphlets: int = 0  #: an estimate if there are many partitions
    plan_version: int = 0

    @classmethod
    def total(cls, several: Iterable[ShardStatistics], plan_version: int = 0) -> ShardStatistics:
        """The sum. Its plan is the oldest in use, or `plan_version` if there is no shard."""
        found = list(several)
        return cls(
            open_windows=sum(each.open_windows for each in found),
            waiting_rows=sum(each.waiting_rows for each in found),
            state_bytes=sum(each.state_bytes for each in found),
            partitions=sum(each.partitions for each in found),
            live_graphlets=sum(each.live_graphlets for each in found),
            plan_version=min((each.plan_version for each in found), default=plan_version),
        )


class Shard:
    """Call `bind` or `restore` first: they set the columns of the events."""

    def __init__(
        self,
        settings: Settings,
        workload: Workload,
        input_format: InputFormat,
        *,
        has_panes: bool = False,
    ) -> None:
        """With `has_panes`, events come with the number of their pane."""
        self.settings = settings
        self._has_panes = has_panes
        self.workload = workload
        self.input_format = input_format
        self.newest: int | None = None  #: the largest time, including late events
        self.backend = _backend(settings, workload)
        self.buffer = ReorderBuffer()
        self.arrivals = 0
        self._schema: pa.Schema | None = None
        self._finished = False
        self._spool: Spool | None = None

    def bind(self, input_format: InputFormat, since: int | None = None) -> None:
        """Only windows that start at `since` (microseconds) or later are reported."""
        self.input_format = input_format
        self._bind_schema()
        self.backend.add(self.workload.queries, since)

    def _bind_schema(self) -> None:
        schema = self.input_format.preparer(self.workload.uses).schema
        self.backend.bind({f.name: f.type for f in schema if f.name not in (TIME, TYPE)})
        panes = [pa.field(PANE, pa.int64())] if self._has_panes else []
        self._schema = pa.schema([*schema, *panes])

    @property
    def schema(self) -> pa.Schema:
        """The schema of the events."""
        if self._schema is None:
            raise RuntimeError("the columns are not known yet: call bind or restore")
        return self._schema

    @property
    def watermark(self) -> int | None:
        return self.buffer.watermark

    # ---- events ----------------------------------------------------------------------------

    def accept(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """Buffers events until the watermark passes them. Returns the late ones. Events that came
        earlier may still be spooled: then these follow them."""
        self.check_running()
        if self._spool is not None:
            self.spool(events)
            return events.slice(0, 0)
        late = self.buffer.add(events)
        if events.num_rows:
            newest = int(times_of(events).max())
            self.newest = newest if self.newest is None else max(self.newest, newest)
        return late

    def spool(self, events: pa.RecordBatch) -> None:
        """Keeps events while there is no watermark."""
        if self._spool is None:
            self._spool = Spool()
        self._spool.add(events)

    def spooled_in_order(self) -> Iterator[pa.RecordBatch]:
        """Empties the spool. Yields its events in order of time, ready for `execute`."""
        spool, self._spool = self._spool, None
        if spool is not None:
            with spool:
                yield from ordered(spool, spool.disorder)

    def advance(self, watermark: int) -> Partials:
        """Computes the events before the watermark and closes the windows that end by it."""
        self.check_running()
        self._release_spool(watermark)
        if self.buffer.rows:
            self._execute_all(self.buffer.portions(watermark))
        elif self.buffer.watermark is None or watermark > self.buffer.watermark:
            self.buffer.watermark = watermark
        return self.backend.close(watermark, self.workload)

    def execute(self, events: pa.RecordBatch) -> Partials:
        """Computes events that are in order and follow all earlier ones. Windows that end by the
        last of them close."""
        self.check_running()
        if events.num_rows == 0:
            return {}
        self._execute(events)
        return self.backend.close(int(times_of(events)[-1]), self.workload)

    def finish(self) -> Partials:
        """Ends the input: computes the remaining events and closes every window."""
        found = []
        if self._spool is not None and self.buffer.rows == 0:
            found = [self.execute(events) for events in self.spooled_in_order()]
        self._unspool()
        self._finished = True
        if self.buffer.rows:
            self._execute_all(self.buffer.portions(None))
        found.append(self.backend.close(FOREVER, self.workload))
        return merge_partials(found, self.workload)

    def check_running(self) -> None:
        if self._finished:
            raise HamletError("this engine has finished; create a new one for more events")

    def _release_spool(self, watermark: int) -> None:
        """With the first watermark: computes the spooled events before it and buffers the rest."""
        if self._spool is None or self.buffer.rows:  # buffered events came before them
            self._unspool()
            return
        newest = self._spool.newest
        for events in self.spooled_in_order():
            count = int(np.searchsorted(times_of(events), watermark, side="left"))
            if count:
                self._execute_all([events.slice(0, count)])
            self.accept(events.slice(count))
        if newest is not None:
            self.newest = newest if self.newest is None else max(self.newest, newest)

    def _unspool(self) -> None:
        spool, self._spool = self._spool, None
        if spool is not None:
            with spool:
                for events in spool:
                    self.accept(events)

    def _execute_all(self, portions: Iterable[pa.RecordBatch]) -> None:
        """Sweeps after each portion, so that only open windows use memory, however many events the
        watermark releases at once."""
        for events in portions:
            self._execute(events)
            if events.num_rows:
                self.backend.sweep(int(times_of(events)[-1]))

    def _execute(self, events: pa.RecordBatch) -> None:
        first, self.arrivals = self.arrivals, self.arrivals + events.num_rows
        by_arrival = self.settings.ties == "arrival"
        self.backend.execute(events, range(first, self.arrivals) if by_arrival else None)

    # ---- the workload and how it shares ----------------------------------------------------

    def add(
        self, queries: tuple[Query, ...], since: int | None = None, plan: SharingPlan | None = None
    ) -> None:
        """Adds queries. They report windows that start at `since` or later, by default those that
        start after every event seen. `plan` is for the workload after the change."""
        workload = self.workload.with_queries(queries)
        if plan is not None:
            plan = plan.restricted_to(workload.queries)
            self.settings.check_plan(plan, workload.queries)
        self.workload = workload
        if self._schema is not None:
            self._rebind()
            self.backend.add(queries, self._after_newest() if since is None else since, plan)
        elif plan is not None:
            self.set_plan(plan)

    def remove(self, name: str) -> None:
        """Removes a query and drops its open windows."""
        query = self.workload[name]
        self.workload = self.workload.without_query(name)
        if self._schema is not None:
            self.backend.remove(query)
            self._rebind()

    def set_plan(self, plan: SharingPlan | None) -> None:
        """Shares by another plan from the next pane on. The exact engine shares nothing."""
        if plan is not None:
            plan = plan.restricted_to(self.workload.queries)
            check_plan(plan, self.workload.queries)
            self.backend.set_plan(plan)

    def set_policy(self, policy: Policy) -> None:
        """Decides by these coefficients from the next burst on."""
        if self.settings.numeric == "float":
            self.backend.set_policy(policy)

    def _after_newest(self) -> int | None:
        return None if self.newest is None else self.newest + 1

    def _rebind(self) -> None:
        """A changed workload uses other attributes. Buffered events get nulls in new ones: no
        new query uses those events."""
        self._bind_schema()
        waiting, watermark = self.buffer, self.buffer.watermark
        self.buffer = ReorderBuffer()
        if waiting.rows:
            for events in waiting.portions(None):
                self.buffer.add(_padded(events, self.schema))
        self.buffer.watermark = watermark

    # ---- checkpoints -----------------------------------------------------------------------

    def save(self, **counts: Any) -> bytes:
        """All state, as an Arrow file. `counts` are row counts to keep in its header."""
        self._unspool()
        header = StateHeader(
            queries={query.name: fingerprint(query) for query in self.workload},
            ties=self.settings.ties,
            input=input_of(self.input_format),
            numeric=self.settings.numeric,
            watermark=self.watermark,
            newest=self.newest,
            arrivals=self.arrivals,
            **counts,
        )
        waiting = self.buffer.batches(), self.schema
        return write_shard(header, self.input_format, waiting, self.backend.save())

    @classmethod
    def restored(
        cls,
        settings: Settings,
        workload: Workload,
        input_format: InputFormat,
        data: bytes,
        *,
        has_panes: bool = False,
    ) -> Shard:
        shard = cls(settings, workload, input_format, has_panes=has_panes)
        shard.restore(SavedShard.read(data, input_format))
        return shard

    def restore(self, saved: SavedShard) -> None:
        """Continues from a checkpoint, before the first event. Queries that are not in it start
        here; queries that are only in it are dropped."""
        header = saved.header
        check_compatible(header, self.settings, self.input_format, self.workload)
        self.backend.load_first(saved.parts)
        self.bind(saved.input_format)
        self.newest, self.arrivals = header.newest, header.arrivals
        for batch in pa.ipc.open_stream(saved.parts["waiting"]):
            self.buffer.add(_padded(batch, self.schema))
        self.buffer.watermark = header.watermark
        for query in self.workload:
            if query.name not in header.queries:
                self.backend.add((query,), self._after_newest())
        for part in saved.of_queries:
            self.backend.load(part)

    # ---- observations ----------------------------------------------------------------------

    def statistics(self) -> ShardStatistics:
        backend = self.backend
        return ShardStatistics(
            open_windows=backend.open_windows(),
            waiting_rows=self.buffer.rows + (0 if self._spool is None else self._spool.rows),
            state_bytes=self.state_bytes(),
            partitions=backend.partitions(),
            live_graphlets=backend.live_graphlets(),
            plan_version=backend.plan_version(),
        )

    def state_bytes(self) -> int:
        return self.backend.state_bytes() if self.settings.numeric == "float" else 0

    def take_observations(self) -> Observations:
        return self.backend.take_observations()

    def take_decisions(self) -> list[Decisions]:
        return self.backend.take_decisions()


def _backend(settings: Settings, workload: Workload) -> ExactBackend | CompiledBackend:
    plan = settings.plan
    if plan is not None:
        plan = plan.restricted_to(workload.queries)
        settings.check_plan(plan, workload.queries)
    if settings.numeric != "float":
        return ExactBackend()
    return CompiledBackend(
        ExecutionOptions(settings.sharing, kernels=settings.kernels), plan or SharingPlan()
    )


def _padded(events: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        events.column(field.name)
        if field.name in events.schema.names
        else pa.nulls(events.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
