"""What a system holds at one time, from what it holds per window."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.baselines.decoded import Ints
from runtime.language.window import Window


def peak(window: Ints, stored: Ints, span: Window) -> int:
    """The most that is stored at a time, where window `window[i]` of some partition comes to
    `stored[i]`: all partitions together, and every window that is open as if it were full."""
    return int(_peak(window, stored, -(-span.within // span.slide)))


@njit(cache=True)
def _peak(window: Ints, stored: Ints, at_once: int) -> int:
    """`at_once`: how many windows hold one time, at most."""
    if len(window) == 0:
        return 0
    first, most, total = window.min(), 0, 0
    span = window.max() - first + 1
    if span <= 1024 + 4 * len(window):  # windows are side by side: no need to sort them
        sums = np.zeros(span, np.int64)
        for i in range(len(window)):
            sums[window[i] - first] += stored[i]
        for k in range(span):
            total += sums[k] - (sums[k - at_once] if k >= at_once else 0)
            most = max(most, total)
        return most
    order = np.argsort(window)
    old = 0
    for i in order:
        total += stored[i]
        while window[order[old]] <= window[i] - at_once:
            total -= stored[order[old]]
            old += 1
        most = max(most, total)
    return most
