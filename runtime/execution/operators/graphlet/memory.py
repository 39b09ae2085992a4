"""Allocates and grows the arrays of a share group's kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.column import Ints
from runtime.execution.kernel_args import handle_of
from runtime.execution.operators.graphlet.kernel import record as k
from runtime.execution.operators.graphlet.kernel_layout import KernelLayout
from runtime.execution.operators.graphlet.plan_tables import tables
from runtime.plan.operators.graphlet.row_width import open_windows

SHARING = {"never": k.NEVER, "always": k.ALWAYS, "dynamic": k.DYNAMIC}
LOG_SIZE = 512  # the most samples kept until they are read
SAMPLE = 256  # two of this many bursts are timed; a power of two
FIRST_ROWS, FIRST_RESULTS, FIRST_BLOCKS = 64, 1024, 64


class GraphletArrays(NamedTuple):
    """The arrays of a kernel; see `kernel/__init__.py`."""

    ri: npt.NDArray[np.int64]
    rf: npt.NDArray[np.float64]
    ex: npt.NDArray[np.int32]
    tab: npt.NDArray[np.int64]
    wi: npt.NDArray[np.int64]
    wf: npt.NDArray[np.float64]
    pi: npt.NDArray[np.int64]
    pf: npt.NDArray[np.float64]
    oi: npt.NDArray[np.int64]
    of: npt.NDArray[np.float64]


class GraphletMemory:
    """`rows` has a row for each slot, of which the first `used` are in use; `work` has settings,
    counters and scratch; `pool` has blocks of buffered events."""

    def __init__(self, layout: KernelLayout) -> None:
        self._layout = layout
        self._places = layout.places
        self._tab = tables(layout)
        self.rows: Ints = np.zeros((0, layout.width), np.int64)
        self.used = 0
        self.pool: Ints = np.zeros(0, np.int64)
        self._exponents = self._new_exponents(0)
        self._out: Ints = np.zeros(FIRST_RESULTS * self._places.OUT_SIZE, np.int64)
        self.work = self._new_work()
        self._taken = 0  # of the rows that were logged

    def handle(self) -> GraphletArrays:
        rows, work, pool, out = self.rows, self.work, self.pool, self._out
        return handle_of(
            GraphletArrays(
                ri=rows,
                rf=rows.view(np.float64),
                # A kernel asks for the exponent of a word by the place of the word, the first of
                # which comes after the head: so the first row begins that much earlier.
                ex=self._exponents[: len(rows) * self.numbers].reshape(-1, self.numbers),
                tab=self._tab,
                wi=work,
                wf=work.view(np.float64),
                pi=pool,
                pf=pool.view(np.float64),
                oi=out,
                of=out.view(np.float64),
            )
        )

    # ---- rows ------------------------------------------------------------------------------

    def reserve(self, capacity: int) -> None:
        """Allocates rows up to a capacity; new rows are unused."""
        self.used = max(self.used, capacity)
        have = len(self.rows)
        if capacity > have:
            size = max(capacity, have + have // 2, FIRST_ROWS)
            self.rows = _longer(self.rows, size)
            self.rows[have:, k.END] = k.UNBORN
            self.rows[have:, k.TYPE] = k.NO_TYPE
            before, self._exponents = self.ex, self._new_exponents(size)
            self.ex[:have] = before

    @property
    def numbers(self) -> int:
        """The words of a row after its head."""
        return self._layout.width - int(self._places.STATES_AT)

    @property
    def ex(self) -> npt.NDArray[np.int32]:
        """Exponents by row and number."""
        return self._exponents[int(self._places.STATES_AT) :].reshape(-1, self.numbers)

    def beside(self, words: Ints) -> Ints:
        """The indexes of the exponents of these words."""
        return words - int(self._places.STATES_AT)

    def _new_exponents(self, rows: int) -> npt.NDArray[np.int32]:
        """Only numbers have exponents, so there are none for the head of a row."""
        return np.zeros(int(self._places.STATES_AT) + rows * self.numbers, np.int32)

    @property
    def nbytes(self) -> int:
        """Counts exponents only in rows that have had large numbers."""
        big = self.rows[: self.used, self._places.FLAGS] & k.BIG != 0
        exponents = int(big.sum()) * self.numbers * self._exponents.itemsize
        return self.rows.nbytes + self.pool.nbytes + exponents

    # ---- buffered events -------------------------------------------------------------------

    def grow_pool(self) -> None:
        """Adds blocks for buffered events to the free list, which links their first words."""
        if self.work[k.W_LEFT] or not self._places.BUFFERS:
            return
        block = int(self._places.BLOCK_SIZE)
        have = len(self.pool) // block
        size = max(2 * have, FIRST_BLOCKS)
        self.pool = _longer(self.pool, size * block)
        added = np.arange(have, size) * block
        self.pool[added] = [*added[1:], self.work[k.W_FREE]]
        self.work[k.W_FREE], self.work[k.W_LEFT] = added[0], size - have

    # ---- results ---------------------------------------------------------------------------

    @property
    def most_results(self) -> int:
        """The most results that a row produces when it leaves a pane."""
        return sum(open_windows(query) for query in self._layout.queries)

    def grow_results(self) -> None:
        need = int(self.work[k.W_RESULTS] + self.work[k.W_MOST_RESULTS] + 2) * self._places.OUT_SIZE
        if need > len(self._out):
            self._out = _longer(self._out, max(2 * len(self._out), need))

    def take_results(self) -> Ints:
        """The rows of results since the last call; later results overwrite them."""
        size = self._places.OUT_SIZE
        count, self.work[k.W_RESULTS] = int(self.work[k.W_RESULTS]), 0
        merged = self.work[self._merged]
        merged[merged != k.OWN_ROWS] = k.NO_ROW
        return self._out[: count * size].reshape(count, size)

    # ---- the log ---------------------------------------------------------------------------

    def logged(self, most: int) -> Ints:
        """The last rows of the log, the oldest first; `most` of them, or as many as there are."""
        begin, logged = int(self.work[k.W_LOG]), int(self.work[k.W_LOGGED])
        log = self.work[begin : begin + LOG_SIZE * k.L_SIZE].reshape(LOG_SIZE, k.L_SIZE)
        return log[np.arange(max(0, logged - min(most, LOG_SIZE)), logged) % LOG_SIZE]

    def take_logged(self) -> Ints:
        """The rows since the last call that have not been overwritten."""
        logged = int(self.work[k.W_LOGGED])
        taken, self._taken = logged - self._taken, logged
        self.work[k.W_CROSSED] = 0
        return self.logged(taken)

    # ---- settings, counters, scratch -------------------------------------------------------

    def _new_work(self) -> Ints:
        layout = self._layout
        end = int(self._places.W_END)
        log = end + k.D_SIZE * len(layout.types)
        merged = log + k.L_SIZE * LOG_SIZE
        before = merged + k.MERGED_WINDOWS * len(layout.queries)
        grown = before + 2 * layout.width
        work = np.zeros(grown + _scratch(layout), np.int64)
        work[k.W_FREE] = -1
        work[k.W_PANE] = layout.pane
        work[k.W_SHARING] = SHARING[layout.sharing]
        work[k.W_MOST_RESULTS] = self.most_results
        work[k.W_LONGEST] = max(query.window.within for query in layout.queries)
        work[k.W_SAMPLE] = SAMPLE - 1
        work[k.W_DECISIONS], work[k.W_LOG], work[k.W_LOG_SIZE] = end, log, LOG_SIZE
        work[k.W_MERGED] = merged
        work[k.W_BEFORE], work[k.W_BEFORE_E] = before, before + layout.width
        work[k.W_GROWN] = grown
        self._merged = slice(merged, before)
        work[self._merged] = [
            k.OWN_ROWS if layout.queries[number].group_by else k.NO_ROW
            for members in layout.members
            for number in members
            for _ in range(k.MERGED_WINDOWS)
        ]
        return work


def _scratch(layout: KernelLayout) -> int:
    """The words of scratch for the new numbers of contiguous queries or the inputs of a part."""
    widest = max(row_class.side * row_class.vectors for row_class in layout.all_row_classes)
    for row_class, columns_at in zip(layout.row_classes, layout.columns_at, strict=False):
        if columns_at:
            widest = max(widest, row_class.side * (row_class.states + 1))
    words = (4 + layout.shape["LANES"]) * widest
    lanes = 1 + layout.shape["LANES"] + layout.shape["MINS"]
    states = max(
        (row_class.states for row_class in layout.all_row_classes[len(layout.row_classes) :]),
        default=0,
    )
    return max(words, 2 * states * lanes * (widest + 1))


def _longer(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """A longer copy, zero at the end."""
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
