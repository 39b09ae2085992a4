"""The run of a share group: its rows, and the kernel over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runtime.compiled.batch import Batch
from runtime.compiled.cells import Ints, Mask
from runtime.compiled.codes import TypeCodes
from runtime.compiled.graphlets import kernel as k
from runtime.compiled.graphlets.layout import Layout
from runtime.compiled.graphlets.masks import masks_of
from runtime.compiled.graphlets.sizes import block_size, mins_of, open_windows, sums_of
from runtime.compiled.numbers import Numbers
from runtime.compiled.ties import Groups
from runtime.compiled.totals import Closed, Extremes, LaneColumn
from runtime.language.query import Fold, Query
from runtime.sharing.decisions import Decisions
from runtime.sharing.policy import Policy

SHARING = {"never": k.NEVER, "always": k.ALWAYS, "dynamic": k.DYNAMIC}
STRATEGY = {"auto": 0, "vectors": k.VECTORS, "panes": k.PANES}
LOG_SIZE = 256
SAMPLE = 4096
FIRST_ROWS, FIRST_RESULTS, FIRST_BLOCKS = 64, 1024, 64
FOREVER = 2**63 - 1


@dataclass(frozen=True)
class Options:
    """`kernels`: "general" takes the kernel that fits many workloads, "exact" one made for just
    this workload, "auto" the latter where it is compiled already or the stream is long."""

    sharing: str = "dynamic"
    strategy: str = "auto"
    kernels: str = "auto"


class GraphletRun:
    def __init__(
        self,
        queries: tuple[Query, ...],
        since: tuple[int, ...],
        codes: TypeCodes,
        options: Options,
        policy: Policy,
        exact: bool = False,
    ) -> None:
        self._layout = _layout(queries, since, options, exact)
        self._options = options
        self._codes = codes
        self._kernel = self._layout.kernel
        self._tab = self._layout.tables()
        self._rows = np.zeros((0, self._layout.width), np.int64)
        self._ex = np.zeros((0, self._layout.width), np.int32)
        self._used = 0
        self._swept: int | None = None
        self._pool = np.zeros(0, np.int64)
        self._out = np.zeros(FIRST_RESULTS * self._kernel.OUT_SIZE, np.int64)
        self._work = self._new_work()
        self.adopt(policy)

    # ---- policy and plan -------------------------------------------------------------------

    @property
    def queries(self) -> tuple[Query, ...]:
        return self._layout.queries

    @property
    def exact(self) -> bool:
        return self._layout.exact

    def adopt(self, policy: Policy) -> None:
        """Takes the coefficients of the cost model from here on."""
        self.policy = policy
        at = k.W_POLICY
        self._work.view(np.float64)[at : at + 7] = [
            policy.event,
            policy.pick,
            policy.operator,
            policy.apply,
            policy.scan,
            self._pane_threshold(policy),
            policy.compare,
        ]

    def _pane_threshold(self, policy: Policy) -> float:
        """From how many events on a pane is better one operator: where stepping every window for
        each burst costs more than stepping the columns and crossing the pane once."""
        steps = crossing = 0.0
        layout = self._layout
        for form, members in enumerate(layout.forms):
            if layout.columns_at[form]:
                query = layout.form(form)
                states, windows = len(query.template.positions), open_windows(query)
                steps += len(members) * (windows - (states + 1))
                crossing += len(members) * windows * states * (states + 1) / 2 * policy.cross
        return crossing / (steps * policy.apply) if steps else float("inf")

    # ---- events ----------------------------------------------------------------------------

    def process(self, batch: Batch, groups: Groups, capacity: int) -> None:
        self._reserve(capacity)
        layout = self._layout
        local = layout.local(self._codes)[batch.type_codes]
        masks = masks_of(layout, batch, local) if self._kernel.BUFFERS else _NO_MASKS
        values = _stacked([batch.number(name) for name in layout.attributes], np.float64)
        keys = _stacked([_order(batch, *extreme) for extreme in layout.ordered], np.int64)
        events = (batch.times, local, batch.type_places, batch.slots, values, keys, masks)
        done = 0
        while done < batch.size:
            done = self._kernel.run(
                done, *events, groups.group, groups.follower, *self._state(), *self._results()
            )
            if done < batch.size:
                self._grow_results()
                self._grow_pool()

    def close(self, watermark: int) -> list[Closed]:
        time = min(watermark, FOREVER)
        pane = time // self._layout.pane
        if self._swept is None or pane > self._swept:
            self._swept = pane
            done = 0
            while done < self._used:
                done = self._kernel.sweep(done, time, self._used, *self._state(), *self._results())
                if done < self._used:
                    self._grow_results()
        return list(self._take())

    def live(self, capacity: int) -> Mask:
        alive = np.zeros(capacity, np.bool_)
        alive[: self._used] = self._rows[: self._used, k.END] != k.UNBORN
        return alive

    def open_windows(self) -> int:
        """How many windows hold partial trends, over all partitions."""
        return int(self.live(self._used).sum())

    @property
    def state_bytes(self) -> int:
        """Exponents take memory only in rows that have had large numbers."""
        big = self._rows[: self._used, self._kernel.FLAGS] & k.BIG != 0
        exponents = int(big.sum()) * self._layout.width * self._ex.itemsize
        return self._rows.nbytes + self._pool.nbytes + exponents

    def decisions(self) -> Decisions:
        work, at = self._work, int(self._work[k.W_DECISIONS])
        size = len(self._layout.types)
        counted = work[at : at + size * k.D_SIZE].reshape(size, k.D_SIZE)
        logged = int(work[k.W_LOGGED])
        log = work[work[k.W_LOG] :][: LOG_SIZE * k.L_SIZE].reshape(LOG_SIZE, k.L_SIZE)
        return Decisions.of(self._layout.types, counted, log[: min(logged, LOG_SIZE)])

    # ---- queries come and go ---------------------------------------------------------------

    def settle(self) -> None:
        """Ends all bursts, so that only the numbers of windows are left."""
        self._kernel.settle_all(self._used, *self._state())

    def _born(self) -> Ints:
        return np.flatnonzero(self._rows[: self._used, k.END] != k.UNBORN)

    def _give_birth(self, rows: Ints) -> None:
        """As the first event of a partition does."""
        kernel = self._kernel
        self._rows[rows, k.TYPE] = k.NO_TYPE
        self._rows[rows, kernel.MIN_AT : kernel.MIN_AT + kernel.MINS] = k.NEUTRAL
        for query in self.queries:
            words = self._layout.words(query)
            self._rows[rows, words] = _no_trends(query)

    def _placed(self, rows: Ints) -> tuple[Ints, Ints]:
        """A time in the pane where each row stands, and one in the pane of its last event."""
        last = self._kernel.LAST if self._kernel.SLIDING else k.END
        pane = self._layout.pane
        return self._rows[rows, k.END] - pane, self._rows[rows, last] - pane

    def _place(self, rows: Ints, at: Ints, last: Ints) -> None:
        pane = self._layout.pane
        self._rows[rows, k.END] = (at // pane + 1) * pane
        if self._kernel.SLIDING:
            self._rows[rows, self._kernel.LAST] = (last // pane + 1) * pane

    # ---- checkpoints -----------------------------------------------------------------------

    def saved(self, query: Query) -> dict[str, npt.NDArray[Any]]:
        """The numbers of a query in all rows that live; bursts have been settled."""
        words = self._layout.words(query)
        born = self._born()
        at, last = self._placed(born)
        return {
            "slots": born,
            "at": at,
            "last": last,
            "numbers": self._rows[born, words].reshape(-1),
            "exponents": self._ex[born, words].reshape(-1),
        }

    def load(self, query: Query, saved: dict[str, npt.NDArray[Any]], capacity: int) -> None:
        """Takes up what was saved of a query; slots are those of this executor."""
        self._reserve(capacity)
        born = saved["slots"]
        self._give_birth(born[self._rows[born, k.END] == k.UNBORN])
        at, last = saved["at"], saved["last"]
        known = self._rows[born, k.END] != k.UNBORN
        if known.any():
            before = self._placed(born[known])
            at[known], last[known] = (
                np.maximum(at[known], before[0]),
                np.maximum(last[known], before[1]),
            )
        self._place(born, at, last)
        words = self._layout.words(query)
        shape = (len(born), open_windows(query) * block_size(query))
        self._rows[born, words] = saved["numbers"].reshape(shape)
        self._ex[born, words] = saved["exponents"].reshape(shape)
        big = self._ex[born, words].any(axis=1)
        self._rows[born, self._kernel.FLAGS] |= big.astype(np.int64) * k.BIG

    # ---- inside ----------------------------------------------------------------------------

    def _state(self) -> Iterator[npt.NDArray[Any]]:
        yield from (self._rows, self._rows.view(np.float64), self._ex, self._tab)
        yield from (self._work, self._work.view(np.float64))
        yield from (self._pool, self._pool.view(np.float64))

    def _results(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        return self._out, self._out.view(np.float64)

    def _new_work(self) -> Ints:
        layout = self._layout
        log = self._kernel.W_END + k.D_SIZE * len(layout.types)
        before = log + k.L_SIZE * LOG_SIZE
        grown = before + 2 * layout.width
        widest = max(len(members) for members in layout.forms)
        work = np.zeros(grown + (4 + layout.shape["LANES"]) * widest, np.int64)
        work[k.W_FREE] = -1
        work[k.W_PANE] = layout.pane
        work[k.W_SHARING] = SHARING[self._options.sharing]
        work[k.W_STRATEGY] = STRATEGY[self._options.strategy]
        work[k.W_ROOM] = sum(open_windows(query) for query in layout.queries)
        work[k.W_LONGEST] = max(query.window.within for query in layout.queries)
        work[k.W_SAMPLE] = SAMPLE
        work[k.W_DECISIONS], work[k.W_LOG], work[k.W_LOG_SIZE] = self._kernel.W_END, log, LOG_SIZE
        work[k.W_BEFORE], work[k.W_BEFORE_E] = before, before + layout.width
        work[k.W_GROWN] = grown
        return work

    def _reserve(self, capacity: int) -> None:
        """Room for so many rows; those that are new have seen nothing."""
        self._used = max(self._used, capacity)
        have = len(self._rows)
        if capacity > have:
            size = max(capacity, 2 * have, FIRST_ROWS)
            self._rows = _longer(self._rows, size)
            self._rows[have:, k.END] = k.UNBORN
            self._rows[have:, k.TYPE] = k.NO_TYPE
            self._ex = _longer(self._ex, size)

    def _grow_results(self) -> None:
        need = int(self._work[k.W_RESULTS] + self._work[k.W_ROOM] + 2) * self._kernel.OUT_SIZE
        if need > len(self._out):
            self._out = _longer(self._out, max(2 * len(self._out), need))

    def _grow_pool(self) -> None:
        """More blocks for waiting events, chained to the free ones by their first words."""
        if self._work[k.W_LEFT] or not self._kernel.BUFFERS:
            return
        block = k.BURST * self._kernel.WAIT_SIZE
        have = len(self._pool) // block
        size = max(2 * have, FIRST_BLOCKS)
        self._pool = _longer(self._pool, size * block)
        added = np.arange(have, size) * block
        self._pool[added] = [*added[1:], self._work[k.W_FREE]]
        self._work[k.W_FREE], self._work[k.W_LEFT] = added[0], size - have

    def _take(self) -> Iterator[Closed]:
        """The results since the last call."""
        size = self._kernel.OUT_SIZE
        count, self._work[k.W_RESULTS] = int(self._work[k.W_RESULTS]), 0
        found = self._out[: count * size].reshape(count, size)
        if len(self.queries) == 1:
            parts = [found]
        else:
            numbers = found[:, 0].astype(np.int16)
            order = np.argsort(numbers, kind="stable")
            borders = np.searchsorted(numbers[order], np.arange(1, len(self.queries)))
            parts = np.split(found[order], borders)
        for query, rows in zip(self.queries, parts, strict=True):
            if len(rows):
                yield self._closed(query, rows)

    def _closed(self, query: Query, rows: npt.NDArray[np.int64]) -> Closed:
        def numbers(j: int) -> Numbers:
            at = k.OUT_NUMBERS + 2 * j
            mantissa = np.ascontiguousarray(rows[:, at]).view(np.float64)
            return Numbers(mantissa, rows[:, at + 1].astype(np.int32))

        lanes: list[LaneColumn] = []
        sums = mins = 0
        for lane in query.lanes:
            if lane.fold is Fold.SUM:
                sums += 1
                lanes.append(numbers(sums))
            else:
                least = np.ascontiguousarray(rows[:, self._kernel.OUT_MINS + mins])
                mins += 1
                order = ~least if lane.fold is Fold.MAX else least
                lanes.append(Extremes(order, least != k.NEUTRAL))
        slots = rows[:, 2].astype(np.int32)
        return Closed(query.name, np.ascontiguousarray(rows[:, 1]), slots, numbers(0), lanes)


def _layout(
    queries: tuple[Query, ...], since: tuple[int, ...], options: Options, exact: bool
) -> Layout:
    exact_layout = Layout(queries, since, options.sharing, exact=True)
    if (
        exact
        or options.kernels == "exact"
        or (options.kernels == "auto" and exact_layout.is_compiled)
    ):
        return exact_layout
    return Layout(queries, since, options.sharing)


_NO_MASKS = np.zeros(0, np.int64)


def _no_trends(query: Query) -> Ints:
    """The words of all windows of a query before any trend."""
    state = [0] * (1 + len(sums_of(query))) + [k.NEUTRAL] * len(mins_of(query))
    return np.tile(np.array(state, np.int64), open_windows(query) * len(query.template.positions))


def _order(batch: Batch, attribute: str, fold: Fold) -> Ints:
    """By which values are compared, the least first; null is greater than all."""
    order, valid = batch.order(attribute)
    return np.where(valid, ~order if fold is Fold.MAX else order, k.NEUTRAL)


def _stacked(columns: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    if len(columns) == 1:
        return columns[0].reshape(1, -1)
    return np.vstack(columns) if columns else np.zeros((0, 0), dtype)


def _longer(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """A longer copy, zero at the end."""
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
