"""A block of generated events, and the helpers that make its attribute columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# Events are drawn in blocks of this size whatever is asked for, so that a stream never depends
# on where its batches are cut, and a longer stream starts with the shorter one.
BLOCK = 1 << 16

Array = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class GeneratedBlock:
    """Events sorted by partition (`slot`) and, within one, by time.

    `order` holds each event's position in the stream, `active` the partitions that have events,
    and `heads` where these begin.
    """

    rng: np.random.Generator
    order: NDArray[np.intp]
    slot: NDArray[np.int64]
    state: NDArray[np.uint8]
    active: NDArray[np.int64]
    heads: NDArray[np.intp]

    @property
    def size(self) -> int:
        return len(self.slot)

    @property
    def tails(self) -> NDArray[np.intp]:
        return np.append(self.heads[1:], self.size) - 1

    @cached_property
    def head(self) -> NDArray[np.intp]:
        """For each event, where its partition begins."""
        return np.repeat(self.heads, np.diff(self.heads, append=self.size))

    def uniform(self, low: float, high: float) -> NDArray[np.float64]:
        return self.rng.uniform(low, high, self.size)

    def hold(self, fresh: Mask, values: Array, memory: Array) -> Array:
        """The value of the latest fresh event of the partition; `memory` lasts across blocks."""
        latest = np.maximum.accumulate(np.where(fresh, np.arange(self.size), -1))
        held = np.where(latest >= self.head, values[latest], memory[self.slot])
        memory[self.active] = held[self.tails]
        return held

    def total(self, steps: Array, memory: Array) -> Array:
        """The running sum of the partition's steps; `memory` lasts across blocks."""
        sums = np.cumsum(steps)
        totals = np.asarray(sums - (sums - steps)[self.head] + memory[self.slot])
        memory[self.active] = totals[self.tails]
        return totals


@dataclass(frozen=True)
class GeneratedColumn:
    """An attribute of a block's events: numbers, or places in `words`; null where not valid."""

    values: Array
    words: pa.Array | None = None
    valid: Mask | None = None

    def arrow(self, order: NDArray[np.intp], kind: pa.DataType) -> pa.Array:
        """In the order of the stream."""
        missing = None if self.valid is None else ~_scatter(self.valid, order)
        values = _scatter(self.values, order)
        if self.words is None:
            return pa.array(values, type=kind, mask=missing)
        return self.words.take(pa.array(values, mask=missing)).cast(kind)


def _scatter(values: Array, order: NDArray[np.intp]) -> Array:
    placed = np.empty_like(values)
    placed[order] = values
    return placed


def fold(values: Array, low: float, high: float) -> Array:
    """Reflects a walk at both bounds, so that it stays within them however long it is."""
    width = high - low
    return np.asarray(high - np.abs((values - low) % (2 * width) - width))
