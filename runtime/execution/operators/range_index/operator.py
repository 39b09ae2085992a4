"""The range-index operator: evaluates queries with adjacent comparisons and the same windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.batch import Batch
from runtime.execution.context import OperatorContext
from runtime.execution.kernel_args import handle_of
from runtime.execution.operator import (
    ALL_QUERIES,
    EXAMPLES,
    Arrays,
    Operator,
    OperatorStatistics,
)
from runtime.execution.operators.range_index.group_layout import RangeIndexLayout, lay_out
from runtime.execution.operators.range_index.items import (
    ALL_PROCESSED,
    CURSOR,
    ITEM_COLUMNS,
    ITEMS_NEEDED,
    MORE_ITEMS,
    MORE_NODES,
    MORE_ROWS,
    WORDS_NEEDED,
    RangeIndexEvents,
    WorkSpace,
)
from runtime.execution.operators.range_index.kernel import close_until, count_events, process_events
from runtime.execution.operators.range_index.node_arena import (
    MOST_NODES,
    NodeArena,
    empty_arena,
    grown,
    widest_node,
    with_trees,
)
from runtime.execution.operators.range_index.node_scan import NOTHING
from runtime.execution.operators.range_index.tables import ALWAYS, K_LIMIT, K_WIDTH
from runtime.execution.operators.range_index.window_rows import (
    CONTINUED,
    DONE,
    DONE_ROWS,
    FREE,
    HELD,
    MERGED,
    OPEN,
    ROWS_USED,
    SHARED,
    SLOT_OF,
    SNAPSHOTS_USED,
    SPLIT,
    STATUS,
    TAKEN,
    WINDOW_OF,
    WindowRows,
    empty_rows,
    free_rows,
    with_rows,
    with_slots,
    with_snapshots,
)
from runtime.execution.type_dictionary import TypeDictionary
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.execution.window_partials import ClosedWindows, ExtremeColumn, LaneColumn
from runtime.language.query import Fold, Query
from runtime.plan.decisions import Decisions, TypeDecisions
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.operators.range_index.kleene_sharing import KleeneCoefficients

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SHARING = ("dynamic", "always", "never")
_LAST = np.iinfo(np.int64).max


class RangeIndexOperator(Operator):
    """All queries have the same partition attributes and windows.

    State is a few flat arrays: `WindowRows` by window and partition, and the trees' `NodeArena`."""

    def __init__(
        self,
        queries: Sequence[Query],
        types: Mapping[str, pa.DataType],
        codes: TypeDictionary,
        *,
        sharing: str = "dynamic",
        since: int | None = None,
        costs: KleeneCoefficients = KleeneCoefficients(),  # noqa: B008 (it is frozen)
    ) -> None:
        """An operator whose queries join late reports only windows that start at `since` or
        later."""
        assert sharing in SHARING
        names = {p.type for query in queries for p in query.template.positions}
        code = {name: codes.code(name) for name in sorted(names)}
        self._queries = list(queries)
        self._removed: set[str] = set()
        self._window = queries[0].window
        self._since = ALWAYS if since is None else since
        self._layout = layout = lay_out(queries, types, code, sharing, since, costs)
        self._plan = layout.tables.packed()
        self._pool = empty_arena(layout.lanes, layout.folds)
        self._state = empty_rows(
            layout.totals,
            layout.total_folds,
            layout.kleene_ints,
            layout.kleene_pending,
            layout.snapshot_width,
            len(layout.tables.kleenes.rows),
        )
        self._space = _space(layout, self._pool)

    # ---- events in -------------------------------------------------------------------------

    def process(self, batch: Batch) -> None:
        if batch.size == 0:
            return
        slots = int(batch.slots.max()) + 1
        if slots > len(self._state.slots):
            self._state = with_slots(self._state, max(slots, 2 * len(self._state.slots)))
        events = handle_of(self._events(batch))
        cursor = np.zeros(CURSOR, np.int64)
        while True:
            state, pool, space = self._handles()
            short = process_events(self._plan, state, pool, events, space, cursor)
            if short == ALL_PROCESSED:
                return
            self._enlarge(short, cursor)

    def _handles(self) -> tuple[WindowRows, NodeArena, WorkSpace]:
        return handle_of(self._state), handle_of(self._pool), handle_of(self._space)

    def _events(self, batch: Batch) -> RangeIndexEvents:
        layout, size = self._layout, batch.size
        matches = np.ones((len(layout.classes), size), np.bool_)
        for row, (_, conditions) in zip(matches, layout.classes, strict=True):
            for condition in conditions:
                row &= batch.truth(condition)
        orders = [batch.order(name) for name in layout.orders]
        values = [batch.lane_values(column) for column in layout.values]
        return RangeIndexEvents(
            instants=_flat(batch.instants, np.int64),
            points=self._points(batch),
            slots=_flat(batch.slots, np.int32),
            types=_flat(batch.types, np.int32),
            matches=matches,
            orders=np.array([order for order, _ in orders], np.int64).reshape(-1, size),
            valid=np.array([valid for _, valid in orders], np.bool_).reshape(-1, size),
            values=np.array(values, np.float64).reshape(-1, size),
        )

    def _points(self, batch: Batch) -> Ints:
        if not self._window.counted:
            return _flat(batch.times, np.int64)
        ordinals = np.empty(batch.size, np.int64)
        slots, times = _flat(batch.slots, np.int32), _flat(batch.times, np.int64)
        count_events(slots, times, self._since, self._state.slots, ordinals)
        return ordinals

    def _enlarge(self, short: int, cursor: Ints) -> None:
        state = self._state
        if short == MORE_ROWS:
            rows = 2 * len(state.rows) + 64
            self._state = with_rows(state, rows)
            self._pool = with_trees(self._pool, rows * self._layout.trees)
        elif short == MORE_NODES:
            self._pool = grown(
                self._pool, max(int(self._space.most_words.max()), int(cursor[WORDS_NEEDED]))
            )
        elif short == MORE_ITEMS:
            self._space = _with_items(self._space, 2 * int(cursor[ITEMS_NEEDED]))
        else:
            self._state = with_snapshots(state, 2 * len(state.snapshots) + 64)

    # ---- results out -----------------------------------------------------------------------

    def close_windows(self, watermark: int) -> list[ClosedWindows]:
        watermark = min(watermark, _LAST)
        if not self._window.counted:
            state, pool, space = self._handles()
            close_until(self._plan, state, pool, space, watermark)
        if not self._state.counters[DONE_ROWS]:
            return []
        used = self._state.rows[: self._state.counters[ROWS_USED]]
        ended = used[:, STATUS] == DONE
        if not self._window.counted:
            # The ends of windows can lie beyond int64.
            ended &= used[:, WINDOW_OF] <= self._window.last_until(watermark)
        rows = np.flatnonzero(ended)
        kept = [q for q, query in enumerate(self._queries) if query.name not in self._removed]
        closed = [self._closed(q, rows) for q in kept]
        free_rows(self._state, rows)
        return [each for each in closed if len(each.windows)]

    def _closed(self, number: int, rows: Ints) -> ClosedWindows:
        query, state = self._queries[number], self._state
        totals, folds = self._layout.results[number]
        rows = rows[state.mantissas[rows, totals[0]] != 0]
        sums = [WideFloatColumn(state.mantissas[rows, i], state.exponents[rows, i]) for i in totals]
        extremes = [state.leasts[rows, i] for i in folds]
        lanes: list[LaneColumn] = []
        for lane in query.lanes:
            if lane.fold is Fold.SUM:
                lanes.append(sums[1 + sum(isinstance(each, WideFloatColumn) for each in lanes)])
            else:
                least = extremes[sum(isinstance(each, ExtremeColumn) for each in lanes)]
                order = ~least if lane.fold is Fold.MAX else least
                lanes.append(ExtremeColumn(order, least != NOTHING))
        windows, slots = state.rows[rows, WINDOW_OF], state.rows[rows, SLOT_OF]
        return ClosedWindows(query.name, windows, slots.astype(np.int32), sums[0], lanes)

    def update(self, node: OperatorNode) -> None:
        """Stops reporting the retired queries."""
        self._removed = set(node.retired)

    # ---- statistics ------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The queries that report results."""
        return tuple(q.name for q in self._queries if q.name not in self._removed)

    def live(self, capacity: int) -> Mask:
        live = np.zeros(capacity, np.bool_)
        rows = self._state.rows[: self._state.counters[ROWS_USED]]
        live[rows[rows[:, STATUS] != FREE, SLOT_OF]] = True
        if self._window.counted:
            live[np.flatnonzero(self._state.slots[:, 2])] = True
        return live

    @property
    def state_bytes(self) -> int:
        return sum(array.nbytes for array in self._state) + self._pool.words.nbytes

    def statistics(self) -> OperatorStatistics:
        return OperatorStatistics(self._count_open_windows())

    def _count_open_windows(self) -> int:
        rows = self._state.rows[: self._state.counters[ROWS_USED]]
        return len(np.unique(rows[rows[:, STATUS] == OPEN, WINDOW_OF])) * (
            len(self._queries) - len(self._removed)
        )

    def decisions(self, last: int = EXAMPLES) -> Decisions:
        """The decisions about shared Kleene states, one for each event: a snapshot was made and
        the state stayed shared, it split, a new window merged it again, or no snapshot was
        needed."""
        types = [
            TypeDecisions(
                type=state.type,
                shared=counts[SHARED],
                split=counts[SPLIT],
                merged=counts[MERGED],
                continued=counts[CONTINUED],
                events=counts[TAKEN],
                snapshots=counts[SHARED],
                benefit=float(counts[TAKEN] * state.alone - counts[HELD] * state.snapshot),
            )
            for state, counts in zip(
                self._layout.kleenes, self._state.decisions.tolist(), strict=True
            )
        ]
        return Decisions(self.names, tuple(types), (), over="events")

    # ---- checkpoints -----------------------------------------------------------------------

    def save(self) -> dict[str, Arrays]:
        state, pool = self._state, self._pool
        rows, snapshots = state.counters[ROWS_USED], state.counters[SNAPSHOTS_USED]
        saved: Arrays = {}
        for name, array in state._asdict().items():
            length = rows if name in _BY_ROW else snapshots if name in _BY_SNAPSHOT else len(array)
            saved[name] = array[:length].copy()
        saved["words"] = pool.words[: pool.used[0]].copy()
        saved["trees"] = pool.trees[: rows * self._layout.trees].copy()
        saved["free"] = pool.free.copy()
        return {ALL_QUERIES: saved}

    def load(self, owner: str, arrays: Arrays, slots: Ints) -> None:
        saved = arrays
        state = WindowRows(**{name: saved[name].copy() for name in WindowRows._fields})
        rows = state.rows[state.rows[:, STATUS] != FREE]
        rows[:, SLOT_OF] = slots[rows[:, SLOT_OF]]
        state.rows[state.rows[:, STATUS] != FREE] = rows
        old = np.flatnonzero(slots[: len(state.slots)] >= 0)
        moved = with_slots(state._replace(slots=state.slots[:0]), int(slots.max(initial=-1)) + 1)
        moved.slots[slots[old]] = state.slots[old]
        self._state = moved
        words = saved["words"].copy()
        self._pool = self._pool._replace(
            words=words,
            reals=words.view(np.float64),
            halves=words.view(np.int32),
            used=np.array([len(words)], np.int64),
            free=saved["free"].copy(),
            trees=saved["trees"].copy(),
        )


def start_range_index(node: OperatorNode, context: OperatorContext) -> RangeIndexOperator:
    shared = context.executor
    operator = RangeIndexOperator(
        node.queries,
        shared.types,
        shared.codes,
        sharing=shared.options.sharing,
        since=node.since[0],
    )
    operator.update(node)
    return operator


_BY_ROW = ("rows", "mantissas", "exponents", "leasts", "kleenes", "pending", "pending_powers")
_BY_SNAPSHOT = ("snapshots", "snapshot_powers", "after")


def _flat(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """A contiguous, writable array, the one type for which the kernel is compiled."""
    made = np.ascontiguousarray(array, dtype)
    return made if made.flags.writeable else made.copy()


def _space(layout: RangeIndexLayout, pool: NodeArena) -> WorkSpace:
    plan = layout.tables
    sizes, most_words = [], []
    for b, (_, numbers, _, kleene) in enumerate(plan.blocks.rows.tolist()):
        first, last = plan.stores.first[b], plan.stores.first[b + 1]
        shapes = plan.stores.rows[first:last, 0].tolist()
        if kleene >= 0:
            known = plan.kleenes.rows[kleene]
            numbers += int((known[K_LIMIT] + 1) * known[K_WIDTH])
            shapes += layout.chunks[kleene]
        sizes.append(numbers)
        most_words.append(MOST_NODES * sum(widest_node(pool, shape) for shape in shapes))
    # Four ranges of factors are computed at once.
    most = 4 * max([*sizes, *layout.lanes])
    folds = max([1, *plan.blocks.rows[:, 2].tolist()])
    space = WorkSpace(
        items=np.zeros((0, ITEM_COLUMNS), np.int64),
        mantissas=np.zeros(0),
        exponents=np.zeros(0, np.int64),
        leasts=np.zeros(0, np.int64),
        work_m=np.zeros(most),
        work_e=np.zeros(most, np.int64),
        work_x=np.zeros(folds, np.int64),
        given_m=np.zeros(most),
        given_e=np.zeros(most, np.int64),
        places=np.arange(most),
        most_words=np.array(most_words, np.int64),
        sizes=np.array([*sizes, max(sizes)], np.int64),
    )
    return _with_items(space, 64)


def _with_items(space: WorkSpace, items: int) -> WorkSpace:
    """Only called before the first item of an instant, so nothing needs to be copied."""
    numbers = items * int(space.sizes[-1])
    return space._replace(
        items=np.zeros((items, ITEM_COLUMNS), np.int64),
        mantissas=np.zeros(numbers),
        exponents=np.zeros(numbers, np.int64),
        leasts=np.zeros(items * len(space.work_x), np.int64),
    )
