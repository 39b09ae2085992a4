"""The graphlet operator: evaluates a share group burst by burst with a compiled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runtime.execution.batch import Batch
from runtime.execution.column import Ints, Mask
from runtime.execution.context import ExecutionOptions
from runtime.execution.event_counter import EventCounter
from runtime.execution.operator import EXAMPLES, Arrays, Operator, OperatorStatistics
from runtime.execution.operators.graphlet.batch_order import ARRIVAL_ORDER, order_of
from runtime.execution.operators.graphlet.decision_log import by_type, examples, samples
from runtime.execution.operators.graphlet.kernel import record as k
from runtime.execution.operators.graphlet.kernel_layout import KernelLayout
from runtime.execution.operators.graphlet.masks import masks_of
from runtime.execution.operators.graphlet.memory import GraphletMemory
from runtime.execution.operators.graphlet.result_columns import closed
from runtime.execution.type_dictionary import TypeDictionary
from runtime.execution.window_partials import ClosedWindows
from runtime.language.query import Fold, Query
from runtime.plan.cost_model import Samples
from runtime.plan.decisions import Decisions
from runtime.plan.operators.graphlet.row_class import RowClass
from runtime.plan.operators.graphlet.row_width import block_size, mins_of, open_windows, sums_of
from runtime.plan.operators.graphlet.shared_subpattern import SharedSubpattern
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.policy import Policy

STRATEGY = {"auto": 0, "vectors": k.VECTORS, "panes": k.PANES}
FOREVER = 2**63 - 1
SAMPLED_ROWS = 65_536


class GraphletOperator(Operator):
    def __init__(
        self,
        queries: tuple[Query, ...],
        since: tuple[int, ...],
        codes: TypeDictionary,
        options: ExecutionOptions,
        policy: Policy,
        parts: tuple[SharedSubpattern, ...] = (),
        counter: EventCounter | None = None,
    ) -> None:
        """`counter` counts the events of partitions; needed for count windows."""
        self._layout = _layout(queries, since, options, parts)
        self._counter = counter
        self._codes = codes
        self._kernel = self._layout.kernel
        self._places = self._layout.places
        self._memory = GraphletMemory(self._layout)
        self._swept: int | None = None
        self.set_policy(policy)

    # ---- policy and plan -------------------------------------------------------------------

    @property
    def queries(self) -> tuple[Query, ...]:
        return self._layout.queries

    @property
    def can_specialize(self) -> bool:
        return not self._layout.exact

    @property
    def counts_from(self) -> int | None:
        return None if self._counter is None else self._counter.since

    def set_policy(self, policy: Policy) -> None:
        self.policy = policy
        self._memory.work[k.W_VERSION] = policy.version
        at = k.W_POLICY
        self._memory.work.view(np.float64)[at : at + k.POLICY_SIZE] = [
            policy.pick,
            policy.compare + policy.walk,
            policy.operator,
            policy.scan,
            policy.apply,
            policy.join,
            self._pane_threshold(policy),
        ]

    def update(self, node: OperatorNode) -> None:
        """Switches the strategy for overlapping windows from the next pane on."""
        self._memory.work[k.W_STRATEGY] = STRATEGY[node.window_strategy]

    def _pane_threshold(self, policy: Policy) -> float:
        """The number of bursts in a pane from which one operator for the pane is cheaper: updating
        every window for each burst then costs more than updating the columns and crossing the
        pane once. Most bursts are applied to all contiguous queries."""
        stepping = crossing = 0.0
        layout = self._layout
        for number, row_class in enumerate(layout.row_classes):
            if layout.columns_at[number]:
                step = policy.apply + row_class.side * policy.beside
                stepping += (row_class.vectors - (row_class.states + 1)) * step
                across = row_class.states * (row_class.states + 1) / 2
                crossing += row_class.side * row_class.vectors * across * policy.cross
        return crossing / stepping if stepping else float("inf")

    # ---- events ----------------------------------------------------------------------------

    def process(self, batch: Batch) -> None:
        self._memory.reserve(batch.capacity)
        groups = batch.groups
        layout = self._layout
        local = layout.local(self._codes)[batch.type_codes]
        masks = masks_of(layout, batch, local) if self._places.BUFFERS else _NO_MASKS
        values = _stacked([batch.lane_values(column) for column in layout.attributes], np.float64)
        keys = _stacked([_order(batch, *extreme) for extreme in layout.extreme_lanes], np.int64)
        done, times = 0, batch.times
        if self._counter is not None:
            done, times = batch.ordinals(self._counter)
            # A group of equal time may close the windows of every pane that it spans.
            self._memory.work[k.W_MOST_RESULTS] = self._memory.most_results * (
                2 + groups.longest // layout.pane
            )
            self._memory.grow_results()
        order = ARRIVAL_ORDER
        if self._counter is None and self._places.ORDERED:
            row_bytes = self._memory.rows.itemsize * layout.width
            order = order_of(times, batch.slots, layout.pane, batch.capacity, row_bytes)
        events = (order, times, local, batch.type_places, batch.slots, values, keys, masks)
        while done < batch.size:
            state = self._memory.handle()
            done = self._kernel.run(done, *events, groups.group, groups.follower, state)
            if done < batch.size:
                self._memory.grow_results()
                self._memory.grow_pool()

    def close_windows(self, watermark: int) -> list[ClosedWindows]:
        if self._counter is not None:
            counts = self._counter.counts(self._memory.used)
            self._sweep(self._kernel.sweep_counted, counts)
        else:
            time = min(watermark, FOREVER)
            pane = time // self._layout.pane
            if self._swept is None or pane > self._swept:
                self._swept = pane
                self._sweep(self._kernel.sweep, time)
        return list(closed(self.queries, self._memory.take_results(), self._places.OUT_MINS))

    def _sweep(self, sweep: Any, until: Any) -> None:
        done = 0
        while done < self._memory.used:
            done = sweep(done, until, self._memory.used, self._memory.handle())
            if done < self._memory.used:
                self._memory.grow_results()

    def live(self, capacity: int) -> Mask:
        alive = np.zeros(capacity, np.bool_)
        alive[: self._memory.used] = self._memory.rows[: self._memory.used, k.END] != k.UNBORN
        return alive

    @property
    def state_bytes(self) -> int:
        return self._memory.nbytes

    def statistics(self) -> OperatorStatistics:
        """A partition with open windows counts as one."""
        opened = int(self.live(self._memory.used).sum())
        return OperatorStatistics(opened, self._live_graphlets())

    def decisions(self, last: int = EXAMPLES) -> Decisions:
        work, at = self._memory.work, int(self._memory.work[k.W_DECISIONS])
        size = len(self._layout.types)
        counted = work[at : at + size * k.D_SIZE].reshape(size, k.D_SIZE)
        types = self._layout.types
        return Decisions(
            tuple(query.name for query in self.queries),
            tuple(by_type(types, counted)),
            tuple(examples(types, self._memory.logged(last))),
        )

    def _live_graphlets(self) -> int:
        """The rows with an open burst, estimated from a sample if there are many rows."""
        each = 1 + self._memory.used // SAMPLED_ROWS
        rows = self._memory.rows[: self._memory.used : each]
        running = rows[:, self._places.COUNT] > 0
        if self._layout.shape["BUFFERS"]:
            running |= rows[:, self._places.WAITING] > 0
        return each * int(np.count_nonzero(running))

    def take_samples(self) -> Samples:
        """The bursts timed since the last call; only the most recent if there are many."""
        return samples(self._memory.take_logged())

    @property
    def decision_nanoseconds(self) -> float:
        """Estimated from the time of one decision on this machine."""
        return sum(each.all for each in self.decisions().types) * self.policy.decide

    def measure(
        self, single: str, repeated: str, picked: Ints, conditions: int, rounds: int, out: Ints
    ) -> None:
        """Times the steps of the kernel on a row with a buffered burst of `picked` events."""
        self._memory.reserve(1)
        self._memory.grow_pool()
        self._initialize_rows(np.zeros(1, np.int64))
        self._memory.pool[: len(picked)] = picked
        types = [self._layout.types.index(type_) for type_ in (single, repeated)]
        self._kernel.measure(0, *types, len(picked), conditions, rounds, out, self._memory.handle())

    # ---- rows ------------------------------------------------------------------------------

    def drain(self, now: int) -> list[ClosedWindows]:
        """Ends all bursts, so that only the numbers of windows remain."""
        closed = self.close_windows(now)
        self._kernel.settle_all(self._memory.used, self._memory.handle())
        return closed

    def _used_rows(self) -> Ints:
        return np.flatnonzero(self._memory.rows[: self._memory.used, k.END] != k.UNBORN)

    def _initialize_rows(self, rows: Ints) -> None:
        """Does what the first event of a partition does."""
        places = self._places
        self._memory.rows[rows, k.TYPE] = k.NO_TYPE
        self._memory.rows[rows, places.MIN_AT : places.MIN_AT + places.MINS] = k.NEUTRAL
        for query in self.queries:
            words = self._layout.words(query)
            self._memory.rows[np.ix_(rows, words)] = _no_trends(query)
        first = len(self._layout.row_classes)
        for number, row_class in enumerate(self._layout.all_row_classes[first:], first):
            at = self._layout.windows_at[number]
            self._memory.rows[rows, at : at + row_class.block] = _identity(row_class)

    def _pane_times(self, rows: Ints) -> tuple[Ints, Ints]:
        """For each row a time in its current pane and one in the pane of its last event."""
        last = self._places.LAST if self._places.SLIDING else k.END
        pane = self._layout.pane
        return self._memory.rows[rows, k.END] - pane, self._memory.rows[rows, last] - pane

    def _set_panes(self, rows: Ints, at: Ints, last: Ints) -> None:
        pane = self._layout.pane
        self._memory.rows[rows, k.END] = (at // pane + 1) * pane
        if self._places.SLIDING:
            self._memory.rows[rows, self._places.LAST] = (last // pane + 1) * pane

    # ---- checkpoints -----------------------------------------------------------------------

    def save(self) -> dict[str, Arrays]:
        """Requires `drain`."""
        return {query.name: self._save_query(query) for query in self.queries}

    def _save_query(self, query: Query) -> Arrays:
        """The numbers of a query in all rows in use."""
        words = self._layout.words(query)
        born = self._used_rows()
        at, last = self._pane_times(born)
        return {
            "slots": born,
            "at": at,
            "last": last,
            "numbers": self._memory.rows[np.ix_(born, words)].reshape(-1),
            "exponents": self._memory.ex[np.ix_(born, self._memory.beside(words))].reshape(-1),
        }

    def load(self, owner: str, arrays: Arrays, slots: Ints) -> None:
        saved, query = arrays, self.queries[self._layout.number(owner)]
        born = slots[saved["slots"]]
        self._memory.reserve(int(born.max(initial=-1)) + 1)
        self._initialize_rows(born[self._memory.rows[born, k.END] == k.UNBORN])
        at, last = saved["at"], saved["last"]
        known = self._memory.rows[born, k.END] != k.UNBORN
        if known.any():
            before = self._pane_times(born[known])
            at[known], last[known] = (
                np.maximum(at[known], before[0]),
                np.maximum(last[known], before[1]),
            )
        self._set_panes(born, at, last)
        words = self._layout.words(query)
        shape = (len(born), open_windows(query) * block_size(query))
        self._memory.rows[np.ix_(born, words)] = saved["numbers"].reshape(shape)
        exponents = saved["exponents"].reshape(shape)
        self._memory.ex[np.ix_(born, self._memory.beside(words))] = exponents
        big = exponents.any(axis=1)
        self._memory.rows[born, self._places.FLAGS] |= big.astype(np.int64) * k.BIG


def _layout(
    queries: tuple[Query, ...],
    since: tuple[int, ...],
    options: ExecutionOptions,
    parts: tuple[SharedSubpattern, ...],
) -> KernelLayout:
    parts = () if options.sharing == "never" else parts
    exact_layout = KernelLayout(queries, since, options.sharing, exact=True, parts=parts)
    if options.kernels == "exact" or (options.kernels == "auto" and exact_layout.is_compiled):
        return exact_layout
    return KernelLayout(queries, since, options.sharing, parts=parts)


def _identity(row_class: RowClass) -> Ints:
    """The words of a shared part before any event."""
    words = np.zeros(
        (row_class.states, 1 + len(row_class.sums) + len(row_class.mins), row_class.side), np.int64
    )
    words[:, 1 + len(row_class.sums) :] = k.NEUTRAL
    for column in range(row_class.side):
        words[column, 0, column] = np.float64(1.0).view(np.int64)
    return words.reshape(-1)


_NO_MASKS = np.zeros(0, np.int64)


def _no_trends(query: Query) -> Ints:
    """The words of all windows of a query before any trend."""
    state = [0] * (1 + len(sums_of(query))) + [k.NEUTRAL] * len(mins_of(query))
    return np.tile(np.array(state, np.int64), open_windows(query) * len(query.template.positions))


def _order(batch: Batch, attribute: str, fold: Fold) -> Ints:
    """Integers that order the values, the best first; null comes last."""
    order, valid = batch.order(attribute)
    return np.where(valid, ~order if fold is Fold.MAX else order, k.NEUTRAL)


def _stacked(columns: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    if len(columns) == 1:
        return columns[0].reshape(1, -1)
    return np.vstack(columns) if columns else np.zeros((0, 0), dtype)
