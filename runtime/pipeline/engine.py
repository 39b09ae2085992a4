"""The engine: batches of events in, result tables out, windows closed by the watermark.

    engine = Engine(workload, lateness=10_000_000)
    for batch in batches:
        for query, table in engine.process(batch).items(): ...
    engine.finish()

Lives in one process and is not shared between threads. Results depend on the events and the
watermarks, never on where batches are cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import pyarrow as pa

from runtime.errors import HamletError, WorkloadError
from runtime.execution import state_file
from runtime.execution.backend import CompiledBackend
from runtime.execution.context import ExecutionOptions
from runtime.execution.exact.backend import PlainBackend
from runtime.execution.exact.executor import FOREVER
from runtime.execution.partials import Partials, combine, empty_table
from runtime.execution.state_file import Header, Part, columns_and_clock, columns_with_clock
from runtime.language.parser import parse
from runtime.language.query import Query, Workload
from runtime.language.schema_check import check_schema
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.normalize import Preparer
from runtime.pipeline.null_keys import null_keys
from runtime.pipeline.reorder_buffer import Buffer
from runtime.plan.cost_model import Samples
from runtime.plan.decisions import Decisions
from runtime.plan.observations import Seen
from runtime.plan.operators.graphlet.shared_subpattern import check_plan
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import Plan
from runtime.types.columns import times_of
from runtime.types.schema import Schema
from runtime.types.time_codec import Clock

Results: TypeAlias = dict[str, pa.Table]

NUMERIC = ("float", "exact")
SHARING = ("dynamic", "always", "never")
KERNELS = ("auto", "general", "exact")
TIES = ("strict", "arrival")
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
        plan: Plan | None = None,
        lateness: int | None = None,
        time_column: str = "time",
        type_column: str = "type",
        time_unit: str | None = None,
    ) -> None:
        """`lateness` in microseconds makes every `process` an epoch that moves the watermark;
        without it the watermark moves by `advance` and `finish` alone."""
        _check_choice("numeric", numeric, NUMERIC)
        _check_choice("ties", ties, TIES)
        _check_choice("sharing", sharing, SHARING)
        _check_choice("kernels", kernels, KERNELS)
        _check_choice("time_unit", time_unit, (None, "s", "ms", "us", "ns"))
        if lateness is not None and (not _is_whole(lateness) or lateness < 0):
            raise HamletError(
                f"lateness is {lateness!r}, but must be whole microseconds, 0 or more"
            )
        self.workload = parse(workload) if isinstance(workload, str) else workload
        self.null_keys: Counter[str] = Counter()
        self.late_rows = 0
        self._numeric = numeric
        self._by_arrival = ties == "arrival"
        self._lateness = lateness
        self._input = (time_column, type_column, time_unit)
        self._columns: pa.Schema | None = None
        self._preparer = Preparer(*self._input, self.workload.uses)
        self._buffer = Buffer()
        self._newest: int | None = None
        self._finished = False
        self._arrivals = 0
        self._backend: PlainBackend | CompiledBackend = PlainBackend()
        if plan is not None:
            self._check_plan(plan, self.workload)
        if numeric == "float":
            options = ExecutionOptions(sharing, kernels=kernels)
            self._backend = CompiledBackend(options, plan or Plan())
        self._dead: list[pa.Table] = []
        self._late: list[pa.RecordBatch] = []

    # ---- events in -------------------------------------------------------------------------

    def bind(self, columns: pa.Schema, since: int | None = None) -> None:
        """Holds the workload against the input's columns before any event is read. With `since`
        (microseconds), only windows are reported that start then or later."""
        time_column, type_column, _ = self._input
        if time_column in columns.names and type_column in columns.names:
            check_schema(self.workload, Schema.from_arrow(columns))
        self._preparer.bind(columns)
        check_windows(self.workload, self._preparer.clock)
        first, self._columns = self._columns is None, columns
        self._backend.bind(self._types())
        if first:
            self._backend.add(self.workload.queries, since)

    def prepare(self, batch: pa.RecordBatch | pa.Table, **where: Any) -> pa.RecordBatch:
        """Checks and normalises a batch; bad rows go to the dead letters."""
        if self._columns is None:
            self.bind(batch.schema)
        decided = self._preparer.clock.decided
        prepared = self._preparer.prepare(batch, **where)
        if not decided:  # times in text: only a row tells what they are
            check_windows(self.workload, self._preparer.clock)
        if prepared.dead.num_rows:
            self._dead.append(prepared.dead)
        return prepared.events

    def process(self, batch: pa.RecordBatch | pa.Table, **where: Any) -> Results:
        """Takes a batch in any order. Rows behind the watermark are late and put aside."""
        self._check_running()
        for piece in _pieces(batch):
            self.accept(self.prepare(piece, **where))
        if self._lateness is None or self._newest is None:
            return {}
        return self._tables(self.advance_partial(self._newest - self._lateness))

    def advance(self, watermark: int | datetime) -> Results:
        """Promises that no event before the watermark will come (microseconds, or a datetime)."""
        self._check_running()
        if isinstance(watermark, datetime):
            moment = watermark if watermark.tzinfo else watermark.replace(tzinfo=UTC)
            watermark = (moment - EPOCH) // timedelta(microseconds=1)
        elif not _is_whole(watermark):
            raise HamletError(
                f"the watermark is {watermark!r}, but must be whole microseconds or a datetime"
            )
        return self._tables(self.advance_partial(watermark))

    def finish(self) -> Results:
        """The end of the input: every window closes, and nothing more is taken."""
        return self._tables(self.finish_partial())

    def execute(self, events: pa.RecordBatch) -> Results:
        """Takes prepared events that are in order already, after all those before; windows that
        end at or before the last of them close."""
        return self._tables(self.execute_partial(events))

    # ---- one engine of several -------------------------------------------------------------

    def accept(self, events: pa.RecordBatch) -> None:
        """Takes prepared events. They wait in order until the watermark passes them; those behind
        it are late."""
        self._check_running()
        late = self._buffer.add(events)
        if late.num_rows:
            self.late_rows += late.num_rows
            self._late.append(late)
        if events.num_rows:
            newest = int(times_of(events).max())
            self._newest = newest if self._newest is None else max(self._newest, newest)

    def advance_partial(self, watermark: int) -> Partials:
        """As `advance`, with totals that are still to be merged with those of other partitions."""
        self._check_running()
        if self._buffer.rows:
            self._take(self._buffer.portions(watermark))
        elif self._buffer.watermark is None or watermark > self._buffer.watermark:
            self._buffer.watermark = watermark
        return self._backend.close(watermark, self.workload)

    def execute_partial(self, events: pa.RecordBatch) -> Partials:
        self._check_running()
        if events.num_rows == 0:
            return {}
        self._execute(events)
        return self._backend.close(int(times_of(events)[-1]), self.workload)

    def finish_partial(self) -> Partials:
        self._finished = True
        if self._buffer.rows:
            self._take(self._buffer.portions(None))
        return self._backend.close(FOREVER, self.workload)

    # ---- queries come and go ---------------------------------------------------------------

    def add(
        self,
        query: Query | str | tuple[Query, ...],
        since: int | None = None,
        plan: Plan | None = None,
    ) -> None:
        """Adds a query, or several. They report windows that start after every event seen so far,
        or from `since` on, where other engines have seen more. `plan` is one for the workload as
        it is then; without it they share with whom they can."""
        added = tuple(parse(query)) if isinstance(query, str) else query
        added = added if isinstance(added, tuple) else (added,)
        grown = self.workload.with_queries(added)
        if plan is not None:
            self._check_plan(plan, grown)
        if self._columns is not None:
            check_schema(grown, Schema.from_arrow(self._columns))
            check_windows(grown, self._preparer.clock)
        self.workload = grown
        self._rebind()
        if self._columns is not None:
            self._backend.add(added, self._since() if since is None else since, plan)
        elif plan is not None:
            self.follow(plan)

    def remove(self, name: str) -> None:
        """Removes a query; its open windows are dropped."""
        query = self.workload[name]
        self.workload = self.workload.without_query(name)
        if self._columns is not None:
            self._backend.remove(query)
        self._rebind()

    # ---- checkpoints -----------------------------------------------------------------------

    def checkpoint(self) -> bytes:
        """All state, as an Arrow file. Late and dead rows that were not taken are not in it."""
        if self._columns is None:
            raise HamletError("there is nothing to save before the first event")
        header = Header(
            queries={query.name: state_file.fingerprint(query) for query in self.workload},
            ties="arrival" if self._by_arrival else "strict",
            input=list(self._input),
            numeric=self._numeric,
            watermark=self._buffer.watermark,
            newest=self._newest,
            arrivals=self._arrivals,
            late_rows=self.late_rows,
            null_keys=dict(self.null_keys),
            rows=self._preparer.rows,
            dead=dict(self._preparer.dead),
        )
        columns = columns_with_clock(self._columns, self._preparer.clock)
        parts = [
            Part("header", asdict(header)),
            Part("columns", columns.serialize().to_pybytes()),
            Part("waiting", state_file.batches_to_bytes(*self._waiting())),
        ]
        parts += self._backend.save()
        return state_file.write(parts)

    def restore(self, data: bytes) -> None:
        """Takes up a checkpoint in an engine that has seen nothing. Queries that the checkpoint
        does not know count from here on; those that the workload no longer has are dropped."""
        if self._columns is not None:
            raise HamletError("only an engine that has seen no event can take up a checkpoint")
        parts = state_file.read(data)
        kept = {part.part: part.data for part in parts if part.query is None}
        header = Header(**kept["header"])
        self._check_fits(header)
        self._backend.load_first(kept)
        columns, clock_type = columns_and_clock(kept["columns"])
        self.bind(columns)
        if clock_type is not None:
            self._preparer.clock.settle(clock_type)
        self._take_up(header, kept["waiting"])
        for part in parts:
            if part.query is not None:
                self._backend.load(part)

    # ---- what else came out ----------------------------------------------------------------

    def take_dead(self) -> pa.Table:
        """The bad rows since the last call, each with its reason."""
        taken, self._dead = self._dead, []
        return pa.concat_tables(taken) if taken else no_dead()

    def take_late(self) -> pa.Table:
        """The late rows since the last call."""
        taken, self._late = self._late, []
        if not taken:
            return pa.table({}) if self._columns is None else self._preparer.schema.empty_table()
        tables = [pa.Table.from_batches([batch]) for batch in taken]
        return pa.concat_tables(tables, promote_options="default")

    def open_windows(self) -> int:
        """How many windows hold state, over all queries."""
        return self._backend.open_windows()

    def adopt(self, policy: Policy) -> None:
        """Decides by these coefficients from the next burst on. Results do not depend on them."""
        if not isinstance(policy, Policy):
            raise HamletError(f"a Policy is adopted, but this is {policy!r}")
        self._backend.adopt(policy)

    def follow(self, plan: Plan) -> None:
        """Shares by another plan from the next pane on. Results do not depend on it."""
        self._check_plan(plan, self.workload)
        assert isinstance(self._backend, CompiledBackend)
        self._backend.follow(plan)

    def _check_plan(self, plan: Plan, workload: Workload) -> None:
        if not isinstance(plan, Plan):
            raise HamletError(f"the plan must be a Plan, but is {plan!r}", "Plan.read takes a dict")
        if self._numeric != "float":
            raise HamletError("the exact engine shares nothing, so it takes no plan")
        check_plan(plan, workload.queries)

    def take_seen(self) -> Seen:
        """What was seen since the last time, and how long it took; for an optimizer."""
        return self._backend.take_seen()

    def state_bytes(self) -> int:
        """The memory of partitions and their windows; the exact engine does not count it."""
        return self._backend.state_bytes()

    def decisions(self) -> list[Decisions]:
        """What was decided about sharing, for each share group; nothing by the exact engine."""
        return self._backend.decisions()

    def take_decided(self) -> list[Decisions]:
        """What was decided since the last call, also by share groups that are gone by now."""
        return self._backend.take_decided()

    @property
    def numeric(self) -> str:
        return self._numeric

    def plan_version(self) -> int:
        """Of the plan by which queries share; another one may come with the next pane."""
        return self._backend.plan_version()

    def partitions(self) -> int:
        """How many partitions are known."""
        return self._backend.partitions()

    def live_graphlets(self) -> int:
        """Bursts that have begun and not ended; about, where partitions are many."""
        return self._backend.live_graphlets()

    def take_samples(self) -> Samples:
        """The bursts that were timed since the last call, some thousands at the most: what a
        `CostModelFitter` learns the coefficients of the cost model from."""
        return self._backend.take_samples()

    def decision_seconds(self) -> float:
        """What decisions over bursts have taken: their number, by the measured time of one."""
        return self._backend.decision_seconds()

    @property
    def waiting_rows(self) -> int:
        """Events ahead of the watermark."""
        return self._buffer.rows

    @property
    def preparer(self) -> Preparer:
        return self._preparer

    def empty_results(self) -> Results:
        types, clock = self._backend.types, self._clock()
        return {
            query.name: empty_table(query, types, clock, self._numeric) for query in self.workload
        }

    # ---- inside ----------------------------------------------------------------------------

    def _check_running(self) -> None:
        if self._finished:
            raise HamletError("this engine has finished; a new one takes further events")

    def _types(self) -> Mapping[str, pa.DataType]:
        if self._columns is None:
            return {}
        schema = self._preparer.schema
        return {name: schema.field(name).type for name in self._preparer.uses}

    def _clock(self) -> Clock | None:
        return self._preparer.clock if self._columns is not None else None

    def _check_fits(self, header: Header) -> None:
        ties = "arrival" if self._by_arrival else "strict"
        if header.numeric != self._numeric:
            raise HamletError(
                f"the checkpoint has {header.numeric} numbers, this engine {self._numeric}"
            )
        if header.ties != ties or header.input != list(self._input):
            raise HamletError(
                f"the checkpoint was made with ties {header.ties} and time column, type column "
                f"and unit {header.input}; this engine has ties {ties} and {list(self._input)}"
            )
        for query in self.workload:
            known = header.queries.get(query.name)
            if known is not None and known != state_file.fingerprint(query):
                hint = "give the changed query a new name, then it counts from here on"
                raise HamletError(f"`{query.name}` is not the query of the checkpoint", hint)

    def _take_up(self, header: Header, waiting: bytes) -> None:
        self._newest, self._arrivals = header.newest, header.arrivals
        self.late_rows, self.null_keys = header.late_rows, Counter(header.null_keys)
        self._preparer.rows, self._preparer.dead = header.rows, Counter(header.dead)
        for batch in pa.ipc.open_stream(waiting):
            self._buffer.add(_padded(batch, self._preparer.schema))
        self._buffer.watermark = header.watermark
        for query in self.workload:
            if query.name not in header.queries:
                self._backend.add((query,), self._since())

    def _since(self) -> int | None:
        """From where a query that joins now can count: after every event seen."""
        return None if self._newest is None else self._newest + 1

    def _waiting(self) -> tuple[list[pa.RecordBatch], pa.Schema]:
        return self._buffer.batches(), self._preparer.schema

    def _rebind(self) -> None:
        """A changed workload uses other attributes. Events from here on have them; those that
        wait have nulls there, and no new query looks at those."""
        before, self._preparer = self._preparer, Preparer(*self._input, self.workload.uses)
        if self._columns is None:
            return
        self.bind(self._columns)
        self._preparer.carry_on(before)
        waiting, watermark = self._buffer, self._buffer.watermark
        self._buffer = Buffer()
        if waiting.rows:
            self._buffer.add(_padded(waiting.drain(), self._preparer.schema))
        self._buffer.watermark = watermark

    def _take(self, portions: Iterable[pa.RecordBatch]) -> None:
        """Events in order. What ends between two portions goes at once: memory is that of windows
        that are open, however many events come together."""
        for events in portions:
            self._execute(events)
            if events.num_rows:
                self._backend.sweep(int(times_of(events)[-1]))

    def _execute(self, events: pa.RecordBatch) -> None:
        first, self._arrivals = self._arrivals, self._arrivals + events.num_rows
        self._backend.execute(events, range(first, self._arrivals) if self._by_arrival else None)
        self.null_keys.update(null_keys(events, self.workload.keys))

    def _tables(self, partials: Partials) -> Results:
        tables = combine([partials], self.workload, self._backend.types, self._clock())
        return {name: table for name, table in tables.items() if table.num_rows}


def aggregate(workload: Workload | str, table: pa.Table, **options: Any) -> Results:
    """The results of every query over a whole table."""
    engine = Engine(workload, **options)
    engine.process(table)
    finished = engine.finish()
    return {**engine.empty_results(), **finished}


def _check_choice(what: str, value: str | None, known: tuple[str | None, ...]) -> None:
    if value not in known:
        choices = ", ".join(one for one in known if one is not None)
        raise HamletError(f"{what} is `{value}`, but must be one of {choices}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def check_windows(workload: Workload, clock: Clock) -> None:
    errors = []
    for query in workload:
        reason = query.window.why_not(clock)
        if reason is not None:
            errors.append(query.source.error(reason, query.text.within.span))
    if errors:
        raise WorkloadError(errors)


def _pieces(batch: pa.RecordBatch | pa.Table) -> list[pa.RecordBatch]:
    """A table may be longer than one Arrow batch can be."""
    if isinstance(batch, pa.RecordBatch) or batch.num_rows <= PIECE_ROWS:
        return [batch]
    return batch.to_batches(max_chunksize=PIECE_ROWS)  # type: ignore[no-any-return]


def _padded(events: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        events.column(field.name)
        if field.name in events.schema.names
        else pa.nulls(events.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
