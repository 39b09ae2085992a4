"""The next-match operator: evaluates one query by its automaton states alone; keeps no events.

It lives in one process. `process` expects whole instants in order. The results of windows that a
later event of the same partition has passed are kept until `close_windows`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runtime.execution.batch import Batch
from runtime.execution.context import OperatorContext
from runtime.execution.kernel_args import handle_of
from runtime.execution.operator import ALL_QUERIES, Arrays, Operator, OperatorStatistics
from runtime.execution.operators.next_match.build_tables import build_tables
from runtime.execution.operators.next_match.kernel import (
    NextMatchEvents,
    end_windows,
    free_rows,
    process_events,
)
from runtime.execution.operators.next_match.tables import Ints
from runtime.execution.operators.next_match.window_state import (
    DONE,
    FREE,
    LATEST,
    NOTHING,
    NUMBER,
    SLOT,
    STATUS,
    WAITING,
    WindowState,
    grown,
    new_state,
    with_slots,
)
from runtime.execution.type_dictionary import TypeDictionary
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.execution.window_partials import ClosedWindows, ExtremeColumn, LaneColumn
from runtime.language.query import Fold, Lane, Query
from runtime.plan.operators.next_match import extremes, sums
from runtime.plan.operators.operator_node import OperatorNode

# The arrays that are needed after a call of the kernel.
_SAVED = ("slots", "rows", "numbers", "exponents", "least", "counters")


class NextMatchOperator(Operator):
    def __init__(self, query: Query, codes: TypeDictionary, since: int | None = None) -> None:
        """A query that joins late reports only windows that start at `since` or later."""
        self.query = query
        self._codes = {p.index: codes.code(p.type) for p in query.template.positions}
        self._plan = build_tables(query, since)
        self._handle = handle_of(self._plan)
        self._vectors = new_state(self._plan)

    def process(self, batch: Batch) -> None:
        if batch.size == 0:
            return
        events = handle_of(self._events(batch))
        self._vectors = with_slots(self._vectors, int(batch.slots.max()) + 1)
        cursor = np.zeros(1, np.int64)
        while not process_events(self._handle, handle_of(self._vectors), events, cursor):
            self._vectors = grown(self._vectors)

    def close_windows(self, watermark: int) -> list[ClosedWindows]:
        watermark = min(watermark, LATEST)
        vectors = handle_of(self._vectors)
        end_windows(self._handle, vectors, watermark)
        if not self._vectors.counters[WAITING]:
            return []
        all_rows = self._vectors.rows
        last = self.query.window.last_until(watermark)
        rows = np.flatnonzero((all_rows[:, STATUS] == DONE) & (all_rows[:, NUMBER] <= last))
        if not len(rows):
            return []
        closed = self._closed(rows)
        free_rows(vectors, rows)
        return [closed]

    def live(self, capacity: int) -> npt.NDArray[np.bool_]:
        live = np.zeros(capacity, np.bool_)
        live[self._used[:, SLOT]] = True
        return live

    @property
    def state_bytes(self) -> int:
        return sum(array.nbytes for array in self._vectors)

    def statistics(self) -> OperatorStatistics:
        return OperatorStatistics(len(np.unique(self._used[:, NUMBER])))

    def save(self) -> dict[str, Arrays]:
        return {ALL_QUERIES: {name: getattr(self._vectors, name).copy() for name in _SAVED}}

    def load(self, owner: str, arrays: Arrays, slots: Ints) -> None:
        given = {name: np.require(arrays[name], requirements=["C", "W"]) for name in _SAVED}
        old = given.pop("slots")
        vectors: WindowState = self._vectors._replace(**given, slots=self._vectors.slots[:0])
        kept = np.flatnonzero(slots[: len(old)] >= 0)
        self._vectors = with_slots(vectors, int(slots.max(initial=-1)) + 1)
        self._vectors.slots[slots[kept]] = old[kept]
        used = self._vectors.rows[:, STATUS] != FREE
        self._vectors.rows[used, SLOT] = slots[self._vectors.rows[used, SLOT]]

    # ---- private ---------------------------------------------------------------------------

    @property
    def _used(self) -> Ints:
        rows = self._vectors.rows
        used: Ints = rows[rows[:, STATUS] != FREE]
        return used

    def _events(self, batch: Batch) -> NextMatchEvents:
        groups = batch.groups
        values = [batch.lane_values(lane.input) for lane in sums(self.query)]
        orders = [_order(batch, lane) for lane in extremes(self.query)]
        return NextMatchEvents(
            times=_own(batch.times),
            slots=_own(batch.slots),
            states=self._states(batch),
            group=groups.group[: batch.size],
            follower=groups.follower,
            values=_stacked(values, np.float64),
            orders=_stacked(orders, np.int64),
        )

    def _states(self, batch: Batch) -> npt.NDArray[np.int8]:
        """The state that each event enters by its type and local conditions; -1 for none."""
        of_code = np.full(max([*self._codes.values(), *batch.type_codes.tolist()]) + 2, -1, np.int8)
        for position, code in self._codes.items():
            of_code[code] = position
        states: npt.NDArray[np.int8] = of_code[batch.type_codes][batch.type_places]
        for condition in self.query.local:
            held = batch.truth(condition.expression)
            for position in condition.positions:
                states[(states == position) & ~held] = -1
        return states

    def _closed(self, rows: Ints) -> ClosedWindows:
        vectors, lanes = self._vectors, list[LaneColumn]()
        numbers = [
            WideFloatColumn(vectors.numbers[rows, j], vectors.exponents[rows, j].astype(np.int32))
            for j in range(1 + self._plan.sums)
        ]
        least = [vectors.least[rows, j] for j in range(self._plan.extremes)]
        summed, compared = iter(numbers[1:]), iter(least)
        for lane in self.query.lanes:
            if lane.fold is Fold.SUM:
                lanes.append(next(summed))
            else:
                found = next(compared)
                order = ~found if lane.fold is Fold.MAX else found
                lanes.append(ExtremeColumn(order, found != NOTHING))
        slots = vectors.rows[rows, SLOT].astype(np.int32)
        return ClosedWindows(self.query.name, vectors.rows[rows, NUMBER], slots, numbers[0], lanes)


def start_next_match(node: OperatorNode, context: OperatorContext) -> NextMatchOperator:
    (query,), (since,) = node.queries, node.since
    return NextMatchOperator(query, context.executor.codes, since)


def _order(batch: Batch, lane: Lane) -> Ints:
    assert lane.attribute is not None
    order, valid = batch.order(lane.attribute)
    return np.where(valid, ~order if lane.fold is Fold.MAX else order, NOTHING)


def _stacked(columns: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    if len(columns) == 1:
        return _own(columns[0]).reshape(1, -1)
    return np.vstack(columns) if columns else np.zeros((0, 0), dtype)


def _own(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of the one type for which the kernel is compiled."""
    return np.require(array, requirements=["C", "W"])
