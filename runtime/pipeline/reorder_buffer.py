"""Sorts events by (time, arrival), up to the watermark, on disk if there are many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.pipeline.mapped_batch import MappedBatch
from runtime.types.columns import PANE, Mask, times_of

# Runs are merged up to this size, so that many small batches do not become many runs.
RUN_ROWS = 65_536
# A buffer with more than this in memory writes it to disk, as one run.
LIMIT_BYTES = 64 << 20
# Cuts between more events than this are found by a sample of their times.
EXACT_ROWS = 16 * RUN_ROWS

Times = npt.NDArray[np.int64]


class Disorder:
    """Measures how far events lag behind the largest time before them."""

    def __init__(self) -> None:
        self.largest = 0
        self.newest: int | None = None

    def add(self, times: Times) -> None:
        if len(times) == 0:
            return
        first = times[0] if self.newest is None else max(times[0], self.newest)
        ahead = np.maximum(np.maximum.accumulate(times), first)
        self.largest = max(self.largest, int((ahead - times).max()))
        self.newest = int(ahead[-1])


class ReorderBuffer:
    """Events ahead of the watermark.

    They are held as *runs*: batches in order of time, listed by arrival. A release cuts the front
    off the runs, so an event is copied a few times at most, however often the watermark moves.
    Beyond LIMIT_BYTES, the runs in memory are merged into one on disk.
    """

    def __init__(self) -> None:
        self.watermark: int | None = None
        self.rows = 0
        self._runs: list[_Run] = []
        self._schema: pa.Schema | None = None

    @property
    def nbytes(self) -> int:
        """The bytes in memory."""
        return sum(run.batch.nbytes for run in self._runs if not run.is_on_disk)

    @property
    def is_on_disk(self) -> bool:
        """Whether some of the events are."""
        return any(run.is_on_disk for run in self._runs)

    def batches(self) -> list[pa.RecordBatch]:
        """The runs; events of equal time are in order of arrival."""
        return [run.batch for run in self._runs]

    def add(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Adds a batch. Returns its late rows, in order of arrival."""
        self._schema = batch.schema
        batch, late = split_late(batch, self.watermark)
        if batch.num_rows:
            self.rows += batch.num_rows
            self._runs.append(_Run.of(batch))
            self._merge_small()
            if self.nbytes > LIMIT_BYTES:
                self._spill()
        return late

    def release(self, watermark: int) -> pa.RecordBatch:
        """All events before the watermark, in order. Earlier events are late from now on."""
        if self.watermark is None or watermark > self.watermark:
            self.watermark = watermark
        return self._joined([run.cut(watermark) for run in self._runs])

    def drain(self) -> pa.RecordBatch:
        """All events that are left, in order, at the end of a bounded input."""
        return self._joined([run.cut(None) for run in self._runs])

    def portions(self, watermark: int | None, rows: int = RUN_ROWS) -> Iterator[pa.RecordBatch]:
        """As `release`, or `drain` for None, in batches of about `rows` rows, none empty.

        One Arrow batch holds at most 2 GB of text; a jump of the watermark can release more.
        """
        for cut in self._cuts(watermark, rows):
            yield self.release(cut)
        last = self.drain() if watermark is None else self.release(watermark)
        if last.num_rows:
            yield last

    def _cuts(self, watermark: int | None, rows: int) -> list[int]:
        """Watermarks that are about `rows` events apart, where a pane begins if one is near: so
        few panes are computed in two batches."""
        runs = [run.before(watermark) for run in self._runs]
        runs = [run for run in runs if run.num_rows]
        total = sum(run.num_rows for run in runs)
        if total <= rows:
            return []
        # Of each run, every `step`-th time stands for as many events.
        step = 1 if total <= EXACT_ROWS else max(1, rows // (8 * len(runs)))
        parts = [times_of(run) for run in runs]
        first, per = min(int(part[0]) for part in parts), max(1, rows // step)
        times = np.concatenate([part[step - 1 :: step] for part in parts])
        if not _ascending(times):
            times.sort(kind="stable")  # a stable sort merges runs
        cuts = np.unique(times[per::per])
        if PANE in runs[0].schema.names:
            cuts = _at_panes(cuts, _pane_starts(runs), times[:: max(1, per // 2)])
        return [int(cut) for cut in cuts if cut > first]

    def _joined(self, parts: list[pa.RecordBatch]) -> pa.RecordBatch:
        self._runs = [run for run in self._runs if run.rows]
        parts = [part for part in parts if part.num_rows]
        self.rows -= sum(part.num_rows for part in parts)
        if parts:
            return in_order(pa.concat_batches(parts) if len(parts) > 1 else parts[0])
        if self._schema is None:
            raise RuntimeError("nothing was added yet, so the columns are not known")
        return pa.RecordBatch.from_pylist([], schema=self._schema)

    def _merge_small(self) -> None:
        """Merges neighbouring runs of similar size, which keeps the order of arrival. There are
        logarithmically many runs."""
        runs = self._runs
        while len(runs) > 1 and runs[-2].rows <= 2 * runs[-1].rows:
            if runs[-2].is_on_disk:
                return
            if runs[-2].rows + runs[-1].rows > RUN_ROWS:
                return
            last = runs.pop()
            runs[-1] = _Run.of(pa.concat_batches([runs[-1].batch, last.batch]))

    def _spill(self) -> None:
        """Moves the runs in memory to disk: they are the last ones by arrival."""
        first = next(n for n, run in enumerate(self._runs) if not run.is_on_disk)
        batch = in_order(pa.concat_batches([run.batch for run in self._runs[first:]]))
        self._runs[first:] = [_Run(batch, MappedBatch(batch))]


class _Run:
    """A batch in order of time whose front may have been cut off; `mapped` if it is on disk."""

    def __init__(self, batch: pa.RecordBatch, mapped: MappedBatch | None = None) -> None:
        self.batch = batch if mapped is None else mapped.batch
        self._mapped = mapped
        self._whole = batch.num_rows

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> _Run:
        return cls(in_order(batch))

    @property
    def rows(self) -> int:
        return int(self.batch.num_rows)

    @property
    def is_on_disk(self) -> bool:
        return self._mapped is not None

    def before(self, watermark: int | None) -> pa.RecordBatch:
        """The events before the watermark."""
        if watermark is None:
            return self.batch
        count = int(np.searchsorted(times_of(self.batch), watermark, side="left"))
        return self.batch.slice(0, count)

    def cut(self, watermark: int | None) -> pa.RecordBatch:
        """Cuts off the events before the watermark and returns them."""
        front = self.before(watermark)
        self.batch = self.batch.slice(front.num_rows)
        if self._mapped is not None:
            if self._whole - self.rows > RUN_ROWS:
                self._mapped.forget_pages()
                self._whole = self.rows
        elif self.rows < self._whole // 2:  # a slice keeps the whole batch in memory
            self.batch = _copied(self.batch)
            self._whole = self.rows
        return front


def _pane_starts(runs: list[pa.RecordBatch]) -> Times:
    """The first times of the panes of each run, in order."""
    found = []
    for run in runs:
        panes = run.column(PANE).to_numpy(zero_copy_only=False)
        found.append(times_of(run)[1:][panes[1:] != panes[:-1]])
    return np.unique(np.concatenate(found))


def _at_panes(cuts: Times, starts: Times, marks: Times) -> Times:
    """Moves cuts back to the last start of a pane, if no more than half a batch lies between."""
    if not len(starts):
        return cuts
    before = starts[np.maximum(np.searchsorted(starts, cuts, side="right") - 1, 0)]
    near = np.searchsorted(marks, cuts) - np.searchsorted(marks, before) <= 1
    return np.unique(np.where(near & (before <= cuts), before, cuts))


def late_mask(times: Times, watermark: int | None) -> Mask | None:
    """Which times are before the watermark; None if none is."""
    if watermark is None or not len(times) or times.min() >= watermark:
        return None
    mask: Mask = times < watermark
    return mask


def split_late(
    batch: pa.RecordBatch, watermark: int | None
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The events that are in time, and the late ones, both in order of arrival."""
    late = late_mask(times_of(batch), watermark)
    if late is None:
        return batch, batch.slice(0, 0)
    return batch.filter(pa.array(~late)), batch.filter(pa.array(late))


def in_order(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch in order of time; rows of equal time keep their order."""
    times = times_of(batch)
    if _ascending(times):
        return batch
    return batch.take(pa.array(np.argsort(times, kind="stable")))


def _ascending(times: Times) -> bool:
    return bool(np.all(times[1:] >= times[:-1]))


def ordered(batches: Iterable[pa.RecordBatch], disorder: int) -> Iterator[pa.RecordBatch]:
    """Puts batches in order of time, given their largest disorder."""
    buffer = ReorderBuffer()
    newest: int | None = None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        largest = int(times_of(batch).max())
        newest = largest if newest is None else max(newest, largest)
        buffer.add(batch)
        yield from buffer.portions(newest - disorder)
    if buffer.rows:
        yield from buffer.portions(None)


def _copied(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.take(pa.array(np.arange(batch.num_rows)))
