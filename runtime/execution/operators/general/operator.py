"""The general operator: evaluates one query of any kind over all partitions.

It lives in one process. `process` expects whole instants in order. It closes the windows that a
later event of the same partition has passed and keeps their results until `close_windows`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.batch import Batch
from runtime.execution.context import OperatorContext
from runtime.execution.jit import cached_njit
from runtime.execution.kernel_args import handle_of
from runtime.execution.operator import ALL_QUERIES, Arrays, Operator, OperatorStatistics
from runtime.execution.operators.general.arena import (
    LATEST,
    LINK,
    NOBODY,
    NUMBER,
    OK,
    OLDEST,
    OUT,
    OUT_EXPONENT,
    OUT_LANES,
    OUT_SLOT,
    OUT_WINDOW,
    SEEN,
    TrendArena,
    grown,
    new_arena,
    with_slots,
)
from runtime.execution.operators.general.build_tables import build_tables
from runtime.execution.operators.general.events import events_of, own
from runtime.execution.operators.general.kernel import close_windows, process_events
from runtime.execution.operators.general.state_table import number_positions
from runtime.execution.operators.general.tables import AS_TEXT, FOLD, SUM, Ints
from runtime.execution.text_dictionary import TextDictionary
from runtime.execution.type_dictionary import TypeDictionary
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.execution.window_partials import ClosedWindows, ExtremeColumn, LaneColumn
from runtime.language.query import Query
from runtime.plan.operators.operator_node import OperatorNode


class GeneralOperator(Operator):
    def __init__(
        self,
        query: Query,
        types: Mapping[str, pa.DataType],
        codes: TypeDictionary,
        texts: TextDictionary,
        since: int | None = None,
    ) -> None:
        """`types` are those of the attributes. A query that joins late reports only windows that
        start at `since` or later."""
        self.query = query
        self._texts = texts
        self._plan, self._columns = build_tables(query, types, since)
        self._handle = handle_of(self._plan)
        self._pools = new_arena(self._plan)
        number_positions(self._handle, handle_of(self._pools))
        self._masks = _Masks(query, codes)

    def process(self, batch: Batch) -> None:
        if batch.size == 0:
            return
        masks = self._masks.of(batch)
        events = handle_of(events_of(batch, masks, self._plan, self._columns, self._texts))
        self._pools = with_slots(self._plan, self._pools, int(batch.slots.max()) + 1)
        cursor = np.zeros(1, np.int64)
        while (need := process_events(self._handle, handle_of(self._pools), events, cursor)) != OK:
            self._pools = grown(self._pools, need)

    def close_windows(self, watermark: int) -> list[ClosedWindows]:
        watermark = min(watermark, LATEST)
        if not self._plan.counted:
            ranks = self._ranks()
            cursor = np.zeros(1, np.int64)
            while True:
                pools = handle_of(self._pools)
                need = close_windows(self._handle, pools, ranks, watermark, cursor)
                if need == OK:
                    break
                self._pools = grown(self._pools, need)
        return self._collect_results(watermark)

    def live(self, capacity: int) -> npt.NDArray[np.bool_]:
        live = np.zeros(max(capacity, len(self._pools.slots)), np.bool_)
        known = self._pools.slots
        live[: len(known)] = known[:, SEEN] > 0 if self._plan.counted else known[:, OLDEST] >= 0
        live[self._pools.out[: self._pools.counters[OUT], OUT_SLOT]] = True
        return live[:capacity]

    @property
    def state_bytes(self) -> int:
        return sum(array.nbytes for array in self._pools)

    def statistics(self) -> OperatorStatistics:
        return OperatorStatistics(self._count_open_windows())

    def _count_open_windows(self) -> int:
        found = [_numbers(self._pools.slots, self._pools.windows)]
        if not self._plan.counted:
            found.append(self._pools.out[: self._pools.counters[OUT], OUT_WINDOW])
        return len(np.unique(np.concatenate(found)))

    def save(self) -> dict[str, Arrays]:
        """Texts are in the state as their ids in `TextDictionary`."""
        return {ALL_QUERIES: {name: array.copy() for name, array in self._pools._asdict().items()}}

    def load(self, owner: str, arrays: Arrays, slots: Ints) -> None:
        fresh = new_arena(self._plan)._asdict()
        given = {name: own(arrays[name], array.dtype) for name, array in fresh.items()}
        saved = TrendArena(**{**given, "slots": fresh["slots"]})
        old = arrays["slots"]
        kept = np.flatnonzero(slots[: len(old)] >= 0)
        pools = with_slots(self._plan, saved, int(slots.max(initial=-1)) + 1)
        pools.slots[slots[kept]] = old[kept]
        count = pools.counters[OUT]
        pools.out[:count, OUT_SLOT] = slots[pools.out[:count, OUT_SLOT]]
        self._pools = pools

    # ---- private ---------------------------------------------------------------------------

    def _ranks(self) -> Ints:
        needed = self._plan.lane[:, AS_TEXT].any()
        return own(self._texts.ranks, np.int64) if needed else np.zeros(0, np.int64)

    def _collect_results(self, watermark: int) -> list[ClosedWindows]:
        """Removes the output rows up to the watermark; the rest stays."""
        pools = self._pools
        count = int(pools.counters[OUT])
        if count == 0:
            return []
        out, numbers = pools.out[:count], pools.out_numbers[:count]
        due = np.ones(count, np.bool_)
        if not self._plan.counted:
            due = out[:, OUT_WINDOW] <= self.query.window.last_until(watermark)
        if not due.any():
            return []
        closed = self._closed(out[due], numbers[due])
        rest = ~due
        left = int(rest.sum())
        pools.out[:left], pools.out_numbers[:left] = out[rest], numbers[rest]
        pools.counters[OUT] = left
        return [closed]

    def _closed(self, out: Ints, numbers: npt.NDArray[np.float64]) -> ClosedWindows:
        def column(j: int) -> LaneColumn:
            if self._plan.lane[j, FOLD] == SUM:
                return _as_numbers(numbers[:, 1 + j], out[:, OUT_LANES + j])
            return ExtremeColumn(out[:, OUT_LANES + j].copy(), numbers[:, 1 + j] != 0.0)

        return ClosedWindows(
            query=self.query.name,
            windows=out[:, OUT_WINDOW].copy(),
            slots=out[:, OUT_SLOT].astype(np.int32),
            count=_as_numbers(numbers[:, 0], out[:, OUT_EXPONENT]),
            lanes=[column(j) for j in range(self._plan.lanes)],
        )


def start_general(node: OperatorNode, context: OperatorContext) -> GeneralOperator:
    (query,), (since,) = node.queries, node.since
    shared = context.executor
    return GeneralOperator(query, shared.types, shared.codes, shared.texts, since)


def _as_numbers(mantissa: npt.NDArray[np.float64], exponent: Ints) -> WideFloatColumn:
    return WideFloatColumn(mantissa.copy(), exponent.astype(np.int32))


class _Masks:
    """For each event the positions, as bits, whose type and local conditions it matches."""

    def __init__(self, query: Query, codes: TypeDictionary) -> None:
        self._always: dict[int, int] = {}
        self._tested = []
        for position in query.template.positions:
            conditions = [c.expression for c in query.local if position.index in c.positions]
            code = codes.code(position.type)
            if conditions:
                self._tested.append((code, position.index, conditions))
            else:
                self._always[code] = self._always.get(code, 0) | 1 << position.index

    def of(self, batch: Batch) -> Ints:
        most = max([*self._always, *(code for code, _, _ in self._tested), -1])
        table = np.zeros(most + 3, np.uint64)  # one for other types, one for no type at all
        for code, bits in self._always.items():
            table[code] = bits
        types = np.minimum(batch.types, most + 1)
        masks: Ints = table[types].view(np.int64)
        for code, position, conditions in self._tested:
            held = batch.types == code
            for condition in conditions:
                held = held & batch.truth(condition)
            masks |= held.astype(np.int64) << position
        return masks


@cached_njit
def _numbers(slots: Ints, windows: Ints) -> Ints:
    """The numbers of the open windows of all slots."""
    size = 0
    for slot in range(len(slots)):
        window = slots[slot, OLDEST]
        while window != NOBODY:
            size += 1
            window = windows[window, LINK]
    found = np.empty(size, np.int64)
    size = 0
    for slot in range(len(slots)):
        window = slots[slot, OLDEST]
        while window != NOBODY:
            found[size] = windows[window, NUMBER]
            size += 1
            window = windows[window, LINK]
    return found
