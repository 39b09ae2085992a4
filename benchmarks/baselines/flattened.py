"""Kleene by sequences of fixed lengths, for systems that know nothing else (hamlet.txt 6.1,
cogra.txt 8.1): the longest match that the data allows is found, and there is a sequence for every
length up to it. That is found before the clock, as a person would estimate it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numba import njit

from benchmarks.baselines.decoded import Decoded, Ints
from benchmarks.baselines.elements import Element
from benchmarks.baselines.slices import Slices


def lengths(elements: Sequence[Element], most: Ints) -> list[range]:
    """How often each element may come; `most[e]` is how long a match of it is in any slice."""
    return [
        range(each.least, max(int(m), each.least) + 1) if each.repeated else range(each.least, 2)
        for each, m in zip(elements, most, strict=True)
    ]


def sequences(elements: Sequence[Element], most: Ints) -> Iterator[tuple[int, ...]]:
    """Every flattened sequence: how often each element comes."""
    return product(*lengths(elements, most))


def longest(decoded: Decoded, found: Slices) -> Ints:
    """[slice, element]: events of different times, so no match of the element is longer."""
    states = decoded.automaton.states
    most = np.zeros((len(found), states), np.int64)
    _longest(decoded.time, decoded.state, found.order, found.begins, found.ends, most)
    return most


@njit(cache=True)
def _longest(time, state, order, begins, ends, most):
    last = np.empty(most.shape[1], np.int64)
    for i in range(len(begins)):
        for place in range(begins[i], ends[i]):
            event = order[place]
            s = state[event]
            if s >= 0 and (most[i, s] == 0 or last[s] != time[event]):
                most[i, s] += 1
                last[s] = time[event]


@njit(cache=True)
def relevant(order, begins, ends, wanted):
    """The slices without the events that nobody wants, so that these are passed over once and not
    once for each window."""
    before = np.empty(len(order) + 1, np.int64)
    kept = 0
    for place in range(len(order)):
        before[place] = kept
        kept += wanted[order[place]]
    before[len(order)] = kept
    picked = np.empty(kept, np.int64)
    for place in range(len(order)):
        if wanted[order[place]]:
            picked[before[place]] = order[place]
    return picked, before[begins], before[ends]
