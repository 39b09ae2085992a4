"""The lifecycle of a partition: its states, their event types, and the transitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Lifecycle:
    """A chain of runs. A run is a stretch of events in one state; the next run is in another one.

    `moves` gives, for each state, the weights of the states that may follow. A state's event type
    is its own name unless `types` says otherwise: `Approach` and `Ride` are both `Travel`. Runs of
    the `bursty` types have a mean length of `burst`; the other types come one at a time.
    """

    moves: Mapping[str, Mapping[str, float]]
    bursty: tuple[str, ...]
    types: Mapping[str, str]

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(self.moves)

    @cached_property
    def type_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.types.get(state, state) for state in self.moves))

    @cached_property
    def type_of(self) -> NDArray[np.intp]:
        """For each state, the position of its type in `type_names`."""
        names = [self.types.get(state, state) for state in self.moves]
        return np.array([self.type_names.index(name) for name in names], dtype=np.intp)

    @cached_property
    def flows(self) -> Floats:
        """How often, of all changes of state, it is from i (row) to j (column)."""
        states = self.states
        weights = np.array([[row.get(to, 0.0) for to in states] for row in self.moves.values()])
        chances = weights / weights.sum(axis=1, keepdims=True)
        return np.asarray(stationary(chances)[:, None] * chances)

    def lengths(self, burst: float) -> Floats:
        """For each type, the mean length of its runs."""
        return np.array([burst if name in self.bursty else 1.0 for name in self.type_names])

    def mix(self, burst: float) -> Floats:
        """For each type, its share of the events."""
        runs = np.bincount(self.type_of, weights=self.flows.sum(axis=1))
        events = runs * self.lengths(burst)
        return np.asarray(events / events.sum())


def stationary(chances: Floats) -> Floats:
    """The distribution p with p = p @ chances."""
    n = len(chances)
    system = np.vstack([chances.T - np.eye(n), np.ones(n)])
    target = np.append(np.zeros(n), 1.0)
    return np.asarray(np.linalg.lstsq(system, target, rcond=None)[0])
