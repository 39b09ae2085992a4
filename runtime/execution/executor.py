"""Runs the physical plan of one routing group: batches in, partial aggregates of windows out.

The stream is split into partitions once for all queries of the group. The executor starts, feeds
and stops the operators that the plan names. When the plan changes, operators whose node stays keep
their state untouched, and the state of the others moves query by query.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter_ns
from typing import Any

import numpy as np
import pyarrow as pa

from runtime.execution.array_codec import from_bytes, to_bytes
from runtime.execution.batch import Batch
from runtime.execution.column import Ints
from runtime.execution.context import ExecutorContext, OperatorContext
from runtime.execution.kernel_upgrade import KernelUpgrade
from runtime.execution.operator import ALL_QUERIES, Operator, all_slots
from runtime.execution.operators.implementations import start_operator
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.plan_switch import PlanSwitch
from runtime.execution.run_stats import RunStats
from runtime.execution.simultaneous import GroupFinder
from runtime.execution.state_file import StatePart
from runtime.execution.window_partials import ClosedWindows, PartialAggregates
from runtime.language.query import Query, Window
from runtime.plan.assignment import describe_plan, make_physical_plan, restore_nodes
from runtime.plan.decisions import Decisions
from runtime.plan.observations import Observations
from runtime.plan.operators.declaration import PlanContext
from runtime.plan.operators.operator_node import NodeKey, OperatorNode
from runtime.plan.physical_plan import PhysicalPlan, PlanDifference
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan

# Releasing slots takes time proportional to all slots, so it waits until there are this many.
FEW_SLOTS = 1_024


class Executor:
    def __init__(self, attributes: tuple[str, ...], shared: ExecutorContext) -> None:
        self._attributes = attributes
        self._shared = shared
        self._keys = PartitionIndex(
            {name: shared.types.get(name, pa.null()) for name in attributes}
        )
        self._context = OperatorContext(shared, self._keys)
        self._ties = GroupFinder()
        self._queries: dict[str, Query] = {}
        self._since: dict[str, int | None] = {}
        self._plan = PhysicalPlan()
        self._operators: dict[NodeKey, Operator] = {}
        self._switch = PlanSwitch(shared.plan)
        self._upgrade = KernelUpgrade(attributes, shared)
        self._stats = RunStats()
        self._now: int | None = None
        self._closed: list[ClosedWindows] = []
        # The last windows that had ended, and how many partitions were kept, at the last release.
        self._ended: dict[Window, int] = {}
        self._kept = 0
        self._restored: dict[int, OperatorNode] = {}

    # ---- queries and plans -----------------------------------------------------------------

    def add(
        self, *queries: Query, since: int | None = None, plan: SharingPlan | None = None
    ) -> None:
        """A query that joins late reports only windows that start at `since` or later. `plan` is
        the sharing plan that includes the queries, if there is one."""
        if plan is not None:
            self._switch = PlanSwitch(plan)
        for query in queries:
            if query.name in self._queries:
                self.remove(query.name)
            self._queries[query.name] = query
            self._since[query.name] = since
            for type_ in sorted(query.types):
                self._shared.codes.code(type_)
        self._replan()

    def remove(self, name: str) -> None:
        del self._queries[name], self._since[name]
        self._switch.remove(name)
        self._closed = [closed for closed in self._closed if closed.query != name]
        self._replan()

    def set_policy(self, policy: Policy) -> None:
        for operator in self._operators.values():
            operator.set_policy(policy)

    def set_plan(self, plan: SharingPlan) -> None:
        """Follows another sharing plan from the next pane on."""
        self._switch.schedule(plan)
        if self._switch.boundary(self._plan, self._now) is None:
            self._switch_plan()

    def _switch_plan(self) -> None:
        self._switch.complete()
        self._replan()

    def _replan(self) -> None:
        shared = self._shared
        context = PlanContext(
            shared.types, self._switch.current, shared.options.sharing, self._since
        )
        plan = make_physical_plan(tuple(self._queries.values()), context, self._plan)
        self._apply(plan, self._plan.difference(plan))

    def _apply(self, plan: PhysicalPlan, difference: PlanDifference) -> None:
        stopped = [(node, self._operators.pop(node.key)) for node in difference.stopped]
        for _, operator in stopped:
            self._drain(operator)
            self._stats.stop(operator)
        for node in difference.kept:
            self._operators[node.key].update(node)
        started = {node.key: self._start(node, stopped) for node in difference.started}
        running = {**self._operators, **started}
        self._operators = {node.key: running[node.key] for node in plan}
        self._plan = plan
        counting = [each.counts_from for each in self._operators.values()]
        self._context.keep_counters({since for since in counting if since is not None})

    def _start(self, node: OperatorNode, stopped: list[tuple[OperatorNode, Operator]]) -> Operator:
        """A new operator with the state that its queries had elsewhere."""
        operator = start_operator(node, self._context)
        queries = {query.name: query for query in node.queries}
        for before, old in stopped:
            moving = [q.name for q in before.active if queries.get(q.name) == q]
            state = old.save() if moving else {}
            for name in moving:
                operator.load(name, state[name], all_slots(self._context))
        return operator

    def _drain(self, operator: Operator) -> None:
        """Brings an operator to a point where its state can be saved query by query."""
        if self._now is not None:
            closed = operator.drain(self._now)
            self._closed += [each for each in closed if each.query in self._queries]

    # ---- events ----------------------------------------------------------------------------

    def process(self, events: pa.RecordBatch, instants: Ints | None) -> None:
        """Processes events in order; all events of one instant come in one call. `instants`
        identify the instants if the times of the events do not."""
        for before, piece, piece_instants in self._switch.cut(
            self._plan, self._now, events, instants
        ):
            if not before:
                self._switch_plan()
            self._process(piece, piece_instants)

    def _process(self, events: pa.RecordBatch, instants: Ints | None) -> None:
        if events.num_rows == 0 or not self._operators:
            return
        shared = self._shared
        batch = Batch.of(
            events, self._keys, shared.codes, shared.texts, shared.types, instants, self._ties
        )
        for operator in self._operators.values():
            began = perf_counter_ns()
            operator.process(batch)
            self._stats.add_time(operator, batch.size, perf_counter_ns() - began)
        self._stats.count_types(batch)
        self._now = int(batch.times[-1])
        if self._upgrade.is_ready(events, self._operators, self._plan, self._switch.current):
            self._restart_with_faster_kernels()

    def _restart_with_faster_kernels(self) -> None:
        for node in self._plan:
            operator = self._operators[node.key]
            if operator.can_specialize:
                self._drain(operator)
                self._stats.stop(operator)
                self._operators[node.key] = self._start(node, [(node, operator)])

    def close(self, watermark: int) -> dict[str, list[PartialAggregates]]:
        """The windows that end at or before the watermark and the count windows that are full, by
        query."""
        if self._switch.is_due(self._plan, self._now, watermark):
            self._switch_plan()
        closed, self._closed = self._closed, []
        for operator in self._operators.values():
            closed += operator.close_windows(watermark)
        blocks: dict[str, list[PartialAggregates]] = {}
        for one in closed:
            query = self._queries[one.query]
            places = [self._attributes.index(name) for name in query.group_by]
            blocks.setdefault(one.query, []).append(one.block(self._keys, places))
        self._release(watermark)
        return blocks

    def _release(self, watermark: int) -> None:
        """Drops partitions without open windows. There are many of them only after windows have
        ended or after the number of partitions has doubled."""
        count = self._keys.count
        if count < FEW_SLOTS:
            return
        windows = {query.window for query in self._queries.values()}
        ended = {each: each.last_until(watermark) for each in windows}
        counted = any(each.counted for each in windows)
        if ended == self._ended and count < 2 * self._kept and not counted:
            return
        live = np.zeros(self._keys.capacity, np.bool_)
        for operator in self.operators:
            live |= operator.live(len(live))
        for counter in self._context.counters.values():
            live |= counter.live(len(live))
        if 2 * np.count_nonzero(live) <= count:
            self._keys.release(~live)
        self._ended, self._kept = ended, self._keys.count

    # ---- statistics ------------------------------------------------------------------------

    @property
    def plan(self) -> PhysicalPlan:
        return self._plan

    @property
    def operators(self) -> list[Operator]:
        return list(self._operators.values())

    @property
    def partitions(self) -> int:
        return self._keys.count

    @property
    def state_bytes(self) -> int:
        """The bytes of keys and operators; exponents count only if a row has needed them."""
        return self._keys.nbytes + sum(each.state_bytes for each in self.operators)

    def open_windows(self) -> int:
        return sum(each.statistics().open_windows for each in self.operators)

    def live_graphlets(self) -> int:
        """Bursts that have begun and not ended; an estimate if there are many partitions."""
        return sum(each.statistics().live_graphlets for each in self.operators)

    def take_decisions(self) -> list[Decisions]:
        """The decisions since the last call."""
        return self._stats.take_decisions(self.operators)

    def take_observations(self) -> Observations:
        """The observations since the last call."""
        return self._stats.take_observations(
            self.operators, self._shared.codes.names, self.state_bytes
        )

    # ---- checkpoints -----------------------------------------------------------------------

    def save(self) -> Iterator[StatePart]:
        """The state of an operator is saved under the name of its query or under its index in
        the plan."""
        about = {
            "attributes": list(self._attributes),
            "now": self._now,
            "since": self._since,
            "plan": describe_plan(self._plan),
        }
        yield StatePart("executor", about, self._name)
        yield StatePart("keys", to_bytes(self._keys.save()), self._name)
        counters = {str(since): each.counts(0) for since, each in self._context.counters.items()}
        yield StatePart("event counters", to_bytes(counters), self._name)
        for place, operator in enumerate(self._operators.values()):
            self._drain(operator)
            for owner, arrays in operator.save().items():
                if owner == ALL_QUERIES:
                    yield StatePart(f"operator {place}", to_bytes(arrays), self._name)
                else:
                    yield StatePart("query", to_bytes(arrays), owner)

    @property
    def _name(self) -> str:
        return ",".join(self._attributes)

    def load(self, part: StatePart) -> None:
        if part.query == self._name and part.part != "query":
            self._load_own(part)
        elif part.query in self._queries and part.part == "query":
            key = self._plan.node_of(part.query).key
            self._operators[key].load(part.query, from_bytes(part.data), all_slots(self._context))

    def _load_own(self, part: StatePart) -> None:
        if part.part == "executor":
            self._restore_plan(part.data)
        elif part.part == "keys":
            self._keys.load(from_bytes(part.data))
        elif part.part == "event counters":
            for since, counts in from_bytes(part.data).items():
                if int(since) in self._context.counters:
                    self._context.counter(int(since)).load(counts)
        else:
            node = self._restored.get(int(part.part.removeprefix("operator ")))
            if node is not None:
                arrays = from_bytes(part.data)
                self._operators[node.key].load(ALL_QUERIES, arrays, all_slots(self._context))

    def _restore_plan(self, about: dict[str, Any]) -> None:
        """Starts the operators of the checkpoint whose state cannot move, then plans the rest."""
        self._now = about["now"]
        for name, since in about["since"].items():
            if name in self._queries:
                self._since[name] = since
        self._restored = restore_nodes(about["plan"], tuple(self._queries.values()))
        self._plan, self._operators = PhysicalPlan(), {}
        restored = PhysicalPlan(tuple(self._restored.values()))
        self._apply(restored, self._plan.difference(restored))
        self._replan()
