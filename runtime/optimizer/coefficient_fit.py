"""Fits the planners' cost coefficients to measured times.

Every report gives an equation for each operator: its work for an event by the cost model, the
number of batches, and the nanoseconds that an event took. Older equations weigh less. A coefficient
that no equation contains keeps its value.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from runtime.optimizer.least_squares import solve_non_negative
from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.estimate import OperatorWork

Floats: TypeAlias = npt.NDArray[np.float64]

TERMS = OperatorWork._fields
FORGET = 0.98  # weight of an equation one report later
TRUST = 0.1  # weight of the previous coefficients, against one equation of the same size
LEAST = 1e-3
# A measurement that exceeds its prediction so many times more than recent ones do was interrupted.
# Judged by the last reports, once there are a few.
MOST, RECENT, FEW = 20.0, 32, 8
# The overhead of a batch. No plan changes it, but it dominates small batches.
BATCH = 5_000.0


class RunTiming(NamedTuple):
    """For an event: the work of an operator, the number of batches, and the nanoseconds."""

    work: OperatorWork
    batches: float
    nanoseconds: float

    @property
    def row(self) -> Floats:
        return np.array([*self.work, self.batches])


class CoefficientFitter:
    def __init__(self, coefficients: CostCoefficients) -> None:
        self._values = np.array([*(getattr(coefficients, name) for name in TERMS), BATCH])
        self._typical = np.array([*(getattr(CostCoefficients(), name) for name in TERMS), BATCH])
        size = len(self._values)
        self._squares = np.zeros((size, size))
        self._products = np.zeros(size)
        self._recent: deque[RunTiming] = deque(maxlen=RECENT)

    @property
    def coefficients(self) -> CostCoefficients:
        return CostCoefficients(*self._values[: len(TERMS)].tolist())

    def observe(self, timings: Iterable[RunTiming]) -> None:
        """Adds one report: a measurement for each operator."""
        self._squares *= FORGET
        self._products *= FORGET
        added = False
        for timing in timings:
            if timing.nanoseconds <= 0 or self._is_interrupted(timing):
                continue
            # Relative errors: a fast operator counts as much as a slow one.
            row = timing.row / timing.nanoseconds
            self._squares += np.outer(row, row)
            self._products += row
            added = True
        if added:
            self._values = self._solved()

    def _is_interrupted(self, timing: RunTiming) -> bool:
        known = [self._over_expected(each) for each in self._recent]
        self._recent.append(timing)
        if len(known) < FEW:
            return False
        return self._over_expected(timing) > MOST * float(np.median(known))

    def _over_expected(self, timing: RunTiming) -> float:
        return timing.nanoseconds / float(timing.row @ self._values)

    def _solved(self) -> Floats:
        """Non-negative ridge regression toward the previous coefficients. The penalty is relative
        to the larger of a coefficient and its default, so that one near zero can grow again."""
        unit = np.maximum(self._values, self._typical)
        squares = self._squares * np.outer(unit, unit) + TRUST * np.eye(len(unit))
        products = self._products * unit + TRUST * self._values / unit
        factor = np.linalg.cholesky(squares).T
        found = solve_non_negative(factor, np.linalg.solve(factor.T, products))
        within: Floats = np.maximum(found * unit, LEAST)
        return within
