"""Runs the queries of one routing group on kernels: batches in, totals of closed windows out.

The stream is split once for all queries of the group. Queries whose bursts are operators go into
graphlet runs, one for each share group; queries under adjacent comparisons into ordered runs, one
for those with the same windows; every other query has a run of its own, of vectors where partial
trends move, or else the general one. Graphlet runs come and go with their queries: a new one takes
over, query by query, what the old ones knew. The others belong to the queries they began with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd
from time import perf_counter_ns
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from runtime.execution.array_codec import from_bytes, to_bytes
from runtime.execution.background_compile import Ahead, Wanted
from runtime.execution.batch import Batch
from runtime.execution.column import Ints
from runtime.execution.event_counter import Numbered, Ordinals
from runtime.execution.operators.general.operator import GeneralRun
from runtime.execution.operators.graphlet.calibrate import calibrated
from runtime.execution.operators.graphlet.operator import GraphletRun, Options
from runtime.execution.operators.next_match import MovingRun
from runtime.execution.operators.next_match import takes as takes_moving
from runtime.execution.operators.range_index.operator import OrderedRun, by_window
from runtime.execution.partition_index import Keys
from runtime.execution.run_stats import Watch
from runtime.execution.simultaneous import Ties
from runtime.execution.state_file import Part
from runtime.execution.text_dictionary import Texts
from runtime.execution.type_dictionary import TypeCodes
from runtime.execution.window_partials import Block, Closed
from runtime.language.parser import parse
from runtime.language.query import Fold, Query, Window
from runtime.plan.decisions import Decisions
from runtime.plan.observations import Seen
from runtime.plan.operators.graphlet.eligibility import takes
from runtime.plan.operators.graphlet.group_split import ALWAYS, fitting
from runtime.plan.operators.graphlet.shared_subpattern import Part as SharedPart
from runtime.plan.operators.graphlet.shared_subpattern import parts_of
from runtime.plan.operators.range_index.comparison_edges import takes as takes_ordered
from runtime.plan.policy import Policy
from runtime.plan.share_groups import planned_groups
from runtime.plan.sharing_plan import Plan
from runtime.types.columns import times_of

Alone: TypeAlias = MovingRun | GeneralRun
Run: TypeAlias = GraphletRun | OrderedRun | Alone

_OWN = ("executor", "keys", "ordinals", "ordered", "ordered state")
# From how many events on a kernel for just this workload is worth the seconds to compile it, which
# another process does.
LONG_STREAM = 20_000_000
# Slots are given back when there are many to give: it takes time by the number of all.
FEW_SLOTS = 1_024


@dataclass
class Common:
    """What the executors of an engine have in common. `types` grows with the workload."""

    options: Options
    policy: Policy | None = None  #: None: what was measured on this machine
    plan: Plan = field(default_factory=Plan)
    codes: TypeCodes = field(default_factory=TypeCodes)
    texts: Texts = field(default_factory=Texts)
    types: Mapping[str, pa.DataType] = field(default_factory=dict)


class CompiledExecutor:
    def __init__(self, attributes: tuple[str, ...], common: Common) -> None:
        self._attributes = attributes
        self._common = common
        self._keys = Keys({name: common.types.get(name, pa.null()) for name in attributes})
        self._ties = Ties()
        self._queries: dict[str, Query] = {}
        self._since: dict[str, int | None] = {}
        self._runs: list[Run] = []
        self._now: int | None = None
        self._events = 0
        self._closed: list[Closed] = []
        # The last windows that had ended, and how many partitions were kept, at the last release.
        self._ended: dict[Window, int] = {}
        self._kept = 0
        self._restoring: OrderedRun | None = None
        self._plan = common.plan
        self._coming: Plan | None = None
        self._watch = Watch()
        self._ordinals: dict[int, Ordinals] = {}
        self._ahead: Ahead | None = None

    # ---- queries come and go ---------------------------------------------------------------

    def add(self, *queries: Query, since: int | None = None, plan: Plan | None = None) -> None:
        """A query that joins late reports only windows that start at `since` or after. `plan` is
        the one that knows of the queries, if any does."""
        if plan is not None:
            self._plan, self._coming = plan, None
        for query in queries:
            if query.name in self._queries:
                self.remove(query.name)
            self._queries[query.name] = query
            self._since[query.name] = since
            for type_ in sorted(query.types):
                self._common.codes.code(type_)
        self._arrange()

    def remove(self, name: str) -> None:
        del self._queries[name], self._since[name]
        self._plan = self._plan.without(name)
        self._coming = self._coming and self._coming.without(name)
        for run in self._runs:
            if isinstance(run, OrderedRun) and name in _names_of(run):
                run.remove(name)
        self._closed = [closed for closed in self._closed if closed.query != name]
        self._arrange()

    def adopt(self, policy: Policy) -> None:
        for run in self.graphlets():
            run.adopt(policy)

    def follow(self, plan: Plan) -> None:
        """Other queries share, or other parts, from the next pane on."""
        self._coming = plan
        if self._boundary() is None:
            self._turn()

    def _boundary(self) -> int | None:
        """The end of the pane in which the last event was; None where panes do not matter."""
        lengths = [
            length
            for query in self._queries.values()
            if takes(query) and not query.window.counted
            for length in (query.window.within, query.window.slide)
        ]
        if self._now is None or not lengths:
            return None
        pane = gcd(*lengths)
        return (self._now // pane + 1) * pane

    def _turn(self) -> None:
        """To the plan that is coming. State goes over, query by query."""
        assert self._coming is not None
        self._plan, self._coming = self._coming, None
        self._arrange()
        for run in self.graphlets():
            run.keep_windows(self._windows_of(run.queries))

    def graphlets(self) -> list[GraphletRun]:
        return [run for run in self._runs if isinstance(run, GraphletRun)]

    def sharing(self) -> list[GraphletRun | OrderedRun]:
        """The runs that decide whether to share."""
        return [run for run in self._runs if isinstance(run, GraphletRun | OrderedRun)]

    def _arrange(self) -> None:
        """Puts every query in its run. Runs that stay as they are keep their state untouched."""
        sharing, compared, alone = self._sorted()
        groups = list(self._share_groups(sharing))
        kept: list[Run] = [run for run in self.graphlets() if (run.queries, run.parts) in groups]
        known = [(run.queries, run.parts) for run in self.graphlets()]
        settled = [run for run in self.graphlets() if run not in kept]
        for run in settled:
            self._settle(run)
            self._watch.gone(run)
        kept += [self._graphlet_run(*group, settled) for group in groups if group not in known]
        arranged = self._arranged(compared, alone)
        for other in self._runs:
            if isinstance(other, OrderedRun) and other not in arranged:
                self._watch.gone(other)
        self._runs = kept + arranged
        counting = {run.counts_from for run in self.graphlets()} - {None}
        self._ordinals = {
            since: self._ordinals.get(since) or Ordinals(since)
            for since in counting
            if since is not None
        }

    def _share_groups(
        self, queries: list[Query]
    ) -> Iterator[tuple[tuple[Query, ...], tuple[SharedPart, ...]]]:
        """The queries of each graphlet run, and the longer parts that they share. Where windows
        count events, queries that began together count together."""
        options, plan = self._common.options, self._plan
        apart: dict[tuple[bool, int | None], list[Query]] = {}
        for query in queries:
            counted = query.window.counted
            since = self._since[query.name] if counted else None
            apart.setdefault((counted, since), []).append(query)
        for together in apart.values():
            for group in planned_groups(together, plan):
                for fit in fitting(group, options.sharing):
                    never = options.sharing == "never"
                    yield fit, () if never else parts_of(plan, fit)

    def _counts(self, run: GraphletRun) -> Ints | None:
        if run.counts_from is None:
            return None
        return self._ordinals[run.counts_from].counts(self._keys.capacity)

    def _sorted(self) -> tuple[list[Query], list[Query], list[Query]]:
        """The queries by the kind of their runs."""
        sharing, compared, alone = [], [], []
        for query in self._queries.values():
            if self._is_grained(query):
                alone.append(query)
            elif takes(query):
                sharing.append(query)
            elif takes_ordered(query, self._common.types):
                compared.append(query)
            else:
                alone.append(query)
        return sharing, compared, alone

    def _is_grained(self, query: Query) -> bool:
        """Whether only the general run will do."""
        by_event = self._plan.granularity.get(query.name) == "event"
        return by_event or self._needs_every_word(query)

    def _needs_every_word(self, query: Query) -> bool:
        """The quicker runs let the extreme words stand for no value in MIN and MAX, and the least
        of the unsigned words is 0."""
        types = self._common.types
        extremes = [lane.attribute for lane in query.lanes if lane.fold is not Fold.SUM]
        return any(types.get(name or "") == pa.uint64() for name in extremes)

    def _arranged(self, compared: list[Query], alone: list[Query]) -> list[Run]:
        kept: list[Run] = []
        running: set[str] = set()
        for run in self._runs:
            names = _names_of(run)
            if names & self._queries.keys():
                kept.append(run)
                running |= names
        fresh: dict[int | None, list[Query]] = {}
        for query in compared:
            if query.name not in running:
                fresh.setdefault(self._since[query.name], []).append(query)
        for together in fresh.values():
            kept += [self._ordered_run(queries) for queries in by_window(together)]
        kept += [self._alone(query) for query in alone if query.name not in running]
        return kept

    def _graphlet_run(
        self,
        queries: tuple[Query, ...],
        parts: tuple[SharedPart, ...],
        old: list[GraphletRun],
    ) -> GraphletRun:
        since = tuple(_since(self._since[query.name]) for query in queries)
        common = self._common
        policy = common.policy or (calibrated() if len(queries) > 1 else Policy())
        run = GraphletRun(queries, since, common.codes, common.options, policy, parts)
        run.keep_windows(self._windows_of(queries))
        for before in old:
            for query in queries:
                if query in before.queries:
                    run.load(query, before.saved(query), self._keys.top)
        return run

    def _windows_of(self, queries: tuple[Query, ...]) -> str:
        return self._plan.windows_of(query.name for query in queries)

    def _alone(self, query: Query) -> Alone:
        common = self._common
        if self._is_grained(query) or not takes_moving(query, common.types):
            return self._general_run(query)
        return MovingRun(query, common.codes, self._since[query.name])

    def _general_run(self, query: Query) -> GeneralRun:
        common, since = self._common, self._since[query.name]
        return GeneralRun(query, common.types, common.codes, common.texts, since)

    def _ordered_run(self, queries: list[Query]) -> OrderedRun:
        common, since = self._common, self._since[queries[0].name]
        sharing = common.options.sharing
        return OrderedRun(queries, common.types, common.codes, sharing=sharing, since=since)

    def _settle(self, run: GraphletRun) -> None:
        """Brings a run to where all runs can be brought: up to now, with no burst running."""
        if self._now is not None:
            closed = run.close(self._now, self._counts(run))
            self._closed += [c for c in closed if c.query in self._queries]
            run.settle()

    # ---- events ----------------------------------------------------------------------------

    def process(self, events: pa.RecordBatch, instants: Ints | None) -> None:
        """Takes events in order; all events of one instant come in one call. `instants` tell
        them apart where it is not their times."""
        if self._coming is not None and events.num_rows:
            events, instants = self._up_to_turn(events, instants)
        if events.num_rows == 0 or not self._runs:
            return
        common = self._common
        batch = Batch.of(events, self._keys, common.codes, common.texts, common.types, instants)
        capacity = self._keys.top
        groups = self._ties.groups(batch.instants, batch.slots, capacity)
        numbered: dict[int | None, Numbered] = {
            since: ordinals.take(batch.times, batch.slots, capacity)
            for since, ordinals in self._ordinals.items()
        }
        for run in self._runs:
            if isinstance(run, GraphletRun):
                began = perf_counter_ns()
                run.process(batch, groups, capacity, numbered.get(run.counts_from))
                self._watch.timed(run, batch.size, perf_counter_ns() - began)
            elif isinstance(run, MovingRun):
                run.process(batch, groups)
            else:
                run.process(batch)
        self._watch.count(batch)
        self._now = int(batch.times[-1])
        self._events += batch.size
        if self._events >= LONG_STREAM and common.options.kernels == "auto":
            self._specialise(events)

    def _up_to_turn(
        self, events: pa.RecordBatch, instants: Ints | None
    ) -> tuple[pa.RecordBatch, Ints | None]:
        """Takes the events of the pane that is open by the plan it began with. Gives the rest."""
        boundary, coming = self._boundary(), self._coming
        place = 0
        if boundary is not None:
            place = int(np.searchsorted(times_of(events), boundary))
        self._coming = None
        self.process(events.slice(0, place), None if instants is None else instants[:place])
        self._coming = coming
        if place < events.num_rows:
            self._turn()
        return events.slice(place), None if instants is None else instants[place:]

    def take_decided(self) -> list[Decisions]:
        """What was decided since the last time."""
        return self._watch.take_decided(self.sharing())

    @property
    def plan(self) -> Plan:
        return self._plan

    @property
    def partitions(self) -> int:
        return self._keys.count

    def live_graphlets(self) -> int:
        """Bursts that have begun and not ended; about, where partitions are many."""
        return sum(run.live_graphlets() for run in self.graphlets())

    def take_seen(self) -> Seen:
        """What was seen since the last time."""
        return self._watch.take(self.graphlets(), self._common.codes.names, self.state_bytes)

    # ---- kernels made for the workload ------------------------------------------------------

    def _specialise(self, events: pa.RecordBatch) -> None:
        """Has kernels compiled that are made for its share groups, once for each arrangement, and
        moves to them when they are there."""
        groups = tuple(run.queries for run in self.graphlets() if not run.exact)
        if not groups:
            return
        if self._ahead is None or self._ahead.groups != groups:
            common = self._common
            self._ahead = Ahead(
                Wanted(
                    self._attributes,
                    common.types,
                    common.options.sharing,
                    groups,
                    self._plan,
                    events.slice(0, 1),
                )
            )
        elif self._ahead.has_finished():
            self._move()

    def _move(self) -> None:
        for place, run in enumerate(self._runs):
            if isinstance(run, GraphletRun) and not run.exact:
                self._settle(run)
                self._watch.gone(run)
                self._runs[place] = self._graphlet_run(run.queries, run.parts, [run])

    def close(self, watermark: int) -> dict[str, list[Block]]:
        """The windows that end at or before the watermark, and those of events that are full,
        by query."""
        if self._coming is not None and watermark >= (self._boundary() or watermark):
            self._turn()
        closed, self._closed = self._closed, []
        for run in self._runs:
            if isinstance(run, GraphletRun):
                closed += run.close(watermark, self._counts(run))
            else:
                closed += run.close(watermark)
        blocks: dict[str, list[Block]] = {}
        for one in closed:
            query = self._queries[one.query]
            places = [self._attributes.index(name) for name in query.group_by]
            blocks.setdefault(one.query, []).append(one.block(self._keys, places))
        self._release(watermark)
        return blocks

    def _release(self, watermark: int) -> None:
        """Forgets partitions without open windows. They become many where windows have ended, or
        among as many that are new."""
        count = self._keys.count
        if count < FEW_SLOTS:
            return
        windows = {query.window for query in self._queries.values()}
        ended = {each: each.last_until(watermark) for each in windows}
        counted = any(each.counted for each in windows)
        if ended == self._ended and count < 2 * self._kept and not counted:
            return
        live = np.zeros(self._keys.capacity, np.bool_)
        for holder in (*self._runs, *self._ordinals.values()):
            live |= holder.live(len(live))
        if 2 * np.count_nonzero(live) <= count:
            self._keys.release(~live)
        self._ended, self._kept = ended, self._keys.count

    def open_windows(self) -> int:
        return sum(run.open_windows() for run in self._runs)

    @property
    def state_bytes(self) -> int:
        """Of keys and runs; exponents count where a row has needed them."""
        return self._keys.nbytes + sum(run.state_bytes for run in self._runs)

    # ---- checkpoints -----------------------------------------------------------------------

    def save(self) -> Iterator[Part]:
        about = {"attributes": list(self._attributes), "now": self._now, "since": self._since}
        yield Part("executor", about, self._name)
        yield Part("keys", to_bytes(self._keys.save()), self._name)
        counts = {str(since): each.counts(0) for since, each in self._ordinals.items()}
        yield Part("ordinals", to_bytes(counts), self._name)
        for run in self._runs:
            if isinstance(run, GraphletRun):
                self._settle(run)
                for query in run.queries:
                    yield Part("graphlets", to_bytes(run.saved(query)), query.name)
            elif isinstance(run, OrderedRun):
                ordered: dict[str, Any] = {
                    "since": run.since,
                    "queries": [
                        [query.name, query.source.text, query.name in run.names]
                        for query in run.began_with
                    ],
                }
                yield Part("ordered", ordered, self._name)
                yield Part("ordered state", to_bytes(run.save()), self._name)
            else:
                kind = "moving" if isinstance(run, MovingRun) else "general"
                yield Part(kind, to_bytes(run.save()), run.query.name)

    @property
    def _name(self) -> str:
        return ",".join(self._attributes)

    def load(self, part: Part) -> None:
        data: Any = part.data
        if part.query == self._name and part.part in _OWN:
            self._load_own(part)
        elif part.query in self._queries:
            arrays = from_bytes(data)
            query = self._queries[part.query]
            for place, run in enumerate(self._runs):
                if isinstance(run, GraphletRun) and query in run.queries:
                    run.load(query, arrays, self._keys.top)
                elif isinstance(run, Alone) and run.query == query:
                    if part.part == "general":  # as those were that versions before saved
                        run = self._runs[place] = self._general_run(query)
                    run.load(arrays, np.arange(self._keys.capacity))

    def _load_own(self, part: Part) -> None:
        if part.part == "keys":
            self._keys.load(from_bytes(part.data))
            return
        if part.part == "ordinals":
            for since, counts in from_bytes(part.data).items():
                if int(since) in self._ordinals:
                    self._ordinals[int(since)].load(counts)
            return
        if part.part == "ordered":
            self._restoring = self._begin_ordered(part.data)
            return
        if part.part == "ordered state":
            if self._restoring is not None:
                self._restoring.load(from_bytes(part.data), np.arange(self._keys.capacity))
            return
        self._now = part.data["now"]
        for name, since in part.data["since"].items():
            if name in self._queries:
                self._since[name] = since
        self._runs = []
        self._arrange()

    def _begin_ordered(self, about: dict[str, Any]) -> OrderedRun | None:
        """An ordered run is laid out for the queries it began with, also those that have gone
        since; None if none of them is left."""
        reported = {name for name, _, still in about["queries"] if still}
        if not reported & self._queries.keys():
            return None
        began = [
            self._queries[name] if still and name in self._queries else parse(text)[name]
            for name, text, still in about["queries"]
        ]
        common = self._common
        sharing, since = common.options.sharing, about["since"]
        run = OrderedRun(began, common.types, common.codes, sharing=sharing, since=since)
        for name, _, still in about["queries"]:
            if not still or name not in self._queries:
                run.remove(name)
        others = [
            other
            for other in self._runs
            if not (isinstance(other, OrderedRun) and other.names & reported)
        ]
        self._runs = [*others, run]
        _, compared, alone = self._sorted()
        self._runs = [*self.graphlets(), *self._arranged(compared, alone)]
        return run


def _names_of(run: Run) -> set[str]:
    """The queries of a run that goes with them. Those of a graphlet run can go elsewhere."""
    if isinstance(run, OrderedRun):
        return run.names
    return {run.query.name} if isinstance(run, Alone) else set()


def _since(since: int | None) -> int:
    return ALWAYS if since is None else since
