"""What a system holds at a time, from what it holds of each slice."""

from __future__ import annotations

import numpy as np

from benchmarks.baselines.decoded import Ints
from benchmarks.baselines.slices import Slices
from runtime.language.query import Window


def peak(found: Slices, window: Window, held: Ints) -> int:
    """Slices are gone through one after the other, but on a stream those of all partitions and of
    all windows that overlap are open at the same time: the most of any such time."""
    if not len(found):
        return 0
    numbers, place = np.unique(found.window, return_inverse=True)
    sums = np.concatenate(([0], np.cumsum(np.bincount(place, held))))
    # At the start of window k those are open that began in the `within` before it.
    oldest = (numbers * window.slide - window.within) // window.slide + 1
    return int((sums[1:] - sums[np.searchsorted(numbers, oldest)]).max())
