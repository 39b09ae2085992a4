"""The run of a share group: its rows, and the kernel over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.compiled.batch import Batch
from runtime.compiled.cells import Ints, Mask
from runtime.compiled.codes import TypeCodes
from runtime.compiled.graphlets.decided import by_type, examples
from runtime.compiled.graphlets.forms import Form
from runtime.compiled.graphlets.kernel import words as k
from runtime.compiled.graphlets.layout import Layout
from runtime.compiled.graphlets.masks import masks_of
from runtime.compiled.graphlets.parts import Part
from runtime.compiled.graphlets.sizes import block_size, mins_of, open_windows, sums_of
from runtime.compiled.graphlets.tables import tables
from runtime.compiled.handles import handle_of
from runtime.compiled.numbers import Numbers
from runtime.compiled.ordinals import Numbered
from runtime.compiled.ties import Groups
from runtime.compiled.totals import Closed, Extremes, LaneColumn
from runtime.language.query import Fold, Query
from runtime.sharing.decisions import Decisions
from runtime.sharing.policy import Policy

SHARING = {"never": k.NEVER, "always": k.ALWAYS, "dynamic": k.DYNAMIC}
STRATEGY = {"auto": 0, "vectors": k.VECTORS, "panes": k.PANES}
LOG_SIZE = 256
SAMPLE = 256  # a power of two
FIRST_ROWS, FIRST_RESULTS, FIRST_BLOCKS = 64, 1024, 64
FOREVER = 2**63 - 1


@dataclass(frozen=True)
class Options:
    """`kernels`: "general" takes the kernel that fits many workloads, "exact" one made for just
    this workload, "auto" the latter where it is compiled already or the stream is long."""

    sharing: str = "dynamic"
    kernels: str = "auto"


class State(NamedTuple):
    """What a kernel works on; see `kernel/__init__.py`."""

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


class GraphletRun:
    def __init__(
        self,
        queries: tuple[Query, ...],
        since: tuple[int, ...],
        codes: TypeCodes,
        options: Options,
        policy: Policy,
        exact: bool = False,
        parts: tuple[Part, ...] = (),
    ) -> None:
        self._layout = _layout(queries, since, options, exact, parts)
        self._options = options
        self._codes = codes
        self._kernel = self._layout.kernel
        self._places = self._layout.places
        self._tab = tables(self._layout)
        self._rows = np.zeros((0, self._layout.width), np.int64)
        self._exponents = self._new_exponents(0)
        self._used = 0
        self._swept: int | None = None
        self._pool = np.zeros(0, np.int64)
        self._out = np.zeros(FIRST_RESULTS * self._places.OUT_SIZE, np.int64)
        self._work = self._new_work()
        self.adopt(policy)

    # ---- policy and plan -------------------------------------------------------------------

    @property
    def queries(self) -> tuple[Query, ...]:
        return self._layout.queries

    @property
    def parts(self) -> tuple[Part, ...]:
        return self._layout.parts

    @property
    def exact(self) -> bool:
        return self._layout.exact

    @property
    def counts_from(self) -> int | None:
        """The time from which windows count events, if they do."""
        return self._layout.since[0] if self._layout.counted else None

    def adopt(self, policy: Policy) -> None:
        """Takes the coefficients of the cost model from here on."""
        self.policy = policy
        self._work[k.W_VERSION] = policy.version
        at = k.W_POLICY
        self._work.view(np.float64)[at : at + k.POLICY_SIZE] = [
            policy.pick,
            policy.compare,
            policy.operator,
            policy.scan,
            policy.apply,
            self._pane_threshold(policy),
        ]

    def keep_windows(self, strategy: str) -> None:
        """How overlapping windows are kept from the next pane on; see `Plan.windows`."""
        self._work[k.W_STRATEGY] = STRATEGY[strategy]

    def _pane_threshold(self, policy: Policy) -> float:
        """From how many events on a pane is better one operator: where stepping every window for
        each burst costs more than stepping the columns and crossing the pane once."""
        steps = crossing = 0.0
        layout = self._layout
        for number, form in enumerate(layout.forms):
            if layout.columns_at[number]:
                steps += form.side * (form.vectors - (form.states + 1))
                across = form.states * (form.states + 1) / 2
                crossing += form.side * form.vectors * across * policy.cross
        return crossing / (steps * policy.apply) if steps else float("inf")

    # ---- events ----------------------------------------------------------------------------

    def process(
        self, batch: Batch, groups: Groups, capacity: int, numbered: Numbered | None
    ) -> None:
        """`numbered` are the batch's events where windows count events."""
        self._reserve(capacity)
        layout = self._layout
        local = layout.local(self._codes)[batch.type_codes]
        masks = masks_of(layout, batch, local) if self._places.BUFFERS else _NO_MASKS
        values = _stacked([batch.number(name) for name in layout.attributes], np.float64)
        keys = _stacked([_order(batch, *extreme) for extreme in layout.ordered], np.int64)
        done, times = 0, batch.times
        if numbered is not None:
            done, times = numbered
            # A group of equal time may close windows of as many panes as it reaches over.
            self._work[k.W_ROOM] = self._room * (2 + groups.longest // layout.pane)
            self._grow_results()
        events = (times, local, batch.type_places, batch.slots, values, keys, masks)
        while done < batch.size:
            done = self._kernel.run(done, *events, groups.group, groups.follower, self._state())
            if done < batch.size:
                self._grow_results()
                self._grow_pool()

    def close(self, watermark: int, counts: Ints | None) -> list[Closed]:
        """`counts` are the events of each slot so far, where windows count events."""
        if counts is not None:
            self._sweep(self._kernel.sweep_counted, counts)
        else:
            time = min(watermark, FOREVER)
            pane = time // self._layout.pane
            if self._swept is None or pane > self._swept:
                self._swept = pane
                self._sweep(self._kernel.sweep, time)
        return list(self._take())

    def _sweep(self, sweep: Any, until: Any) -> None:
        done = 0
        while done < self._used:
            done = sweep(done, until, self._used, self._state())
            if done < self._used:
                self._grow_results()

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
        big = self._rows[: self._used, self._places.FLAGS] & k.BIG != 0
        exponents = int(big.sum()) * self._numbers * self._exponents.itemsize
        return self._rows.nbytes + self._pool.nbytes + exponents

    def decisions(self) -> Decisions:
        work, at = self._work, int(self._work[k.W_DECISIONS])
        size = len(self._layout.types)
        counted = work[at : at + size * k.D_SIZE].reshape(size, k.D_SIZE)
        logged = int(work[k.W_LOGGED])
        log = work[work[k.W_LOG] :][: LOG_SIZE * k.L_SIZE].reshape(LOG_SIZE, k.L_SIZE)
        types = self._layout.types
        return Decisions(
            tuple(query.name for query in self.queries),
            tuple(by_type(types, counted)),
            tuple(examples(types, log[: min(logged, LOG_SIZE)])),
        )

    @property
    def decision_nanoseconds(self) -> float:
        """What all decisions took, by what one takes on this machine."""
        return sum(each.all for each in self.decisions().types) * self.policy.decide

    def measure(
        self, single: str, repeated: str, picked: Ints, conditions: int, rounds: int, out: Ints
    ) -> None:
        """Times the parts of operators on a row in which as many events wait as were picked."""
        self._reserve(1)
        self._grow_pool()
        self._give_birth(np.zeros(1, np.int64))
        self._pool[: len(picked)] = picked
        types = [self._layout.types.index(type_) for type_ in (single, repeated)]
        self._kernel.measure(0, *types, len(picked), conditions, rounds, out, self._state())

    # ---- queries come and go ---------------------------------------------------------------

    def settle(self) -> None:
        """Ends all bursts, so that only the numbers of windows are left."""
        self._kernel.settle_all(self._used, self._state())

    def _born(self) -> Ints:
        return np.flatnonzero(self._rows[: self._used, k.END] != k.UNBORN)

    def _give_birth(self, rows: Ints) -> None:
        """As the first event of a partition does."""
        places = self._places
        self._rows[rows, k.TYPE] = k.NO_TYPE
        self._rows[rows, places.MIN_AT : places.MIN_AT + places.MINS] = k.NEUTRAL
        for query in self.queries:
            words = self._layout.words(query)
            self._rows[rows, words] = _no_trends(query)
        first = len(self._layout.forms)
        for number, form in enumerate(self._layout.all_forms[first:], first):
            at = self._layout.windows_at[number]
            self._rows[rows, at : at + form.block] = _identity(form)

    def _placed(self, rows: Ints) -> tuple[Ints, Ints]:
        """A time in the pane where each row stands, and one in the pane of its last event."""
        last = self._places.LAST if self._places.SLIDING else k.END
        pane = self._layout.pane
        return self._rows[rows, k.END] - pane, self._rows[rows, last] - pane

    def _place(self, rows: Ints, at: Ints, last: Ints) -> None:
        pane = self._layout.pane
        self._rows[rows, k.END] = (at // pane + 1) * pane
        if self._places.SLIDING:
            self._rows[rows, self._places.LAST] = (last // pane + 1) * pane

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
            "exponents": self._ex[born, self._beside(words)].reshape(-1),
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
        exponents = saved["exponents"].reshape(shape)
        self._ex[born, self._beside(words)] = exponents
        big = exponents.any(axis=1)
        self._rows[born, self._places.FLAGS] |= big.astype(np.int64) * k.BIG

    # ---- inside ----------------------------------------------------------------------------

    def _state(self) -> State:
        rows, work, pool, out = self._rows, self._work, self._pool, self._out
        return handle_of(
            State(
                ri=rows,
                rf=rows.view(np.float64),
                # A kernel asks for the exponent of a word by the place of the word, the first of
                # which comes after the head: so the first row begins that much earlier.
                ex=self._exponents[: rows.shape[0] * self._numbers].reshape(-1, self._numbers),
                tab=self._tab,
                wi=work,
                wf=work.view(np.float64),
                pi=pool,
                pf=pool.view(np.float64),
                oi=out,
                of=out.view(np.float64),
            )
        )

    @property
    def _numbers(self) -> int:
        """The words of a row after its head."""
        return self._layout.width - int(self._places.STATES_AT)

    def _new_exponents(self, rows: int) -> npt.NDArray[np.int32]:
        """Only numbers have one, so there are none for the head of a row."""
        return np.zeros(int(self._places.STATES_AT) + rows * self._numbers, np.int32)

    @property
    def _ex(self) -> npt.NDArray[np.int32]:
        """By row and number."""
        return self._exponents[int(self._places.STATES_AT) :].reshape(-1, self._numbers)

    def _beside(self, words: slice) -> slice:
        """The exponents of these words."""
        head = int(self._places.STATES_AT)
        return slice(words.start - head, words.stop - head, words.step)

    @property
    def _room(self) -> int:
        """How many results a row has at the most when it leaves a pane."""
        return sum(open_windows(query) for query in self.queries)

    def _new_work(self) -> Ints:
        layout = self._layout
        end = int(self._places.W_END)
        log = end + k.D_SIZE * len(layout.types)
        merged = log + k.L_SIZE * LOG_SIZE
        before = merged + len(layout.queries)
        grown = before + 2 * layout.width
        work = np.zeros(grown + _scratch(layout), np.int64)
        work[k.W_FREE] = -1
        work[k.W_PANE] = layout.pane
        work[k.W_SHARING] = SHARING[self._options.sharing]
        work[k.W_ROOM] = self._room
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
        ]
        return work

    def _reserve(self, capacity: int) -> None:
        """Room for so many rows; those that are new have seen nothing."""
        self._used = max(self._used, capacity)
        have = len(self._rows)
        if capacity > have:
            size = max(capacity, have + have // 2, FIRST_ROWS)
            self._rows = _longer(self._rows, size)
            self._rows[have:, k.END] = k.UNBORN
            self._rows[have:, k.TYPE] = k.NO_TYPE
            before, self._exponents = self._ex, self._new_exponents(size)
            self._ex[:have] = before

    def _grow_results(self) -> None:
        need = int(self._work[k.W_RESULTS] + self._work[k.W_ROOM] + 2) * self._places.OUT_SIZE
        if need > len(self._out):
            self._out = _longer(self._out, max(2 * len(self._out), need))

    def _grow_pool(self) -> None:
        """More blocks for waiting events, chained to the free ones by their first words."""
        if self._work[k.W_LEFT] or not self._places.BUFFERS:
            return
        block = int(self._places.BLOCK_SIZE)
        have = len(self._pool) // block
        size = max(2 * have, FIRST_BLOCKS)
        self._pool = _longer(self._pool, size * block)
        added = np.arange(have, size) * block
        self._pool[added] = [*added[1:], self._work[k.W_FREE]]
        self._work[k.W_FREE], self._work[k.W_LEFT] = added[0], size - have

    def _take(self) -> Iterator[Closed]:
        """The results since the last call."""
        size = self._places.OUT_SIZE
        count, self._work[k.W_RESULTS] = int(self._work[k.W_RESULTS]), 0
        merged = self._work[self._merged]
        merged[merged != k.OWN_ROWS] = k.NO_ROW
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
            mantissa = rows[:, at].copy().view(np.float64)  # the rows will be used again
            return Numbers(mantissa, rows[:, at + 1].astype(np.int32))

        lanes: list[LaneColumn] = []
        sums = mins = 0
        for lane in query.lanes:
            if lane.fold is Fold.SUM:
                sums += 1
                lanes.append(numbers(sums))
            else:
                least = rows[:, self._places.OUT_MINS + mins].copy()
                mins += 1
                order = ~least if lane.fold is Fold.MAX else least
                lanes.append(Extremes(order, least != k.NEUTRAL))
        slots = rows[:, 2].astype(np.int32)
        return Closed(query.name, rows[:, 1].copy(), slots, numbers(0), lanes)


def _layout(
    queries: tuple[Query, ...],
    since: tuple[int, ...],
    options: Options,
    exact: bool,
    parts: tuple[Part, ...],
) -> Layout:
    parts = () if options.sharing == "never" else parts
    exact_layout = Layout(queries, since, options.sharing, exact=True, parts=parts)
    if (
        exact
        or options.kernels == "exact"
        or (options.kernels == "auto" and exact_layout.is_compiled)
    ):
        return exact_layout
    return Layout(queries, since, options.sharing, parts=parts)


def _scratch(layout: Layout) -> int:
    """The words of scratch for what queries side by side grow to, or bring to a longer part."""
    widest = max(form.side for form in layout.all_forms)
    words = (4 + layout.shape["LANES"]) * widest
    lanes = 1 + layout.shape["LANES"] + layout.shape["MINS"]
    states = max((form.states for form in layout.all_forms[len(layout.forms) :]), default=0)
    return max(words, 2 * states * lanes * (widest + 1))


def _identity(form: Form) -> Ints:
    """The words of a longer part before any event."""
    words = np.zeros((form.states, 1 + len(form.sums) + len(form.mins), form.side), np.int64)
    words[:, 1 + len(form.sums) :] = k.NEUTRAL
    for column in range(form.side):
        words[column, 0, column] = np.float64(1.0).view(np.int64)
    return words.reshape(-1)


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
