"""Fits the planners' prices to how long runs took.

Every run gives an equation for each report: what the model says it does for an event, in how many
batches events came, and how many nanoseconds an event took. Old equations are forgotten bit by bit.
What the runs say nothing about, such as settling where nothing is shared as one operator, stays as
it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls  # type: ignore[import-untyped]

from runtime.plan.cost_coefficients import Prices
from runtime.plan.estimate import Work

Floats: TypeAlias = npt.NDArray[np.float64]

TERMS = Work._fields
FORGET = 0.98  # what an equation still counts one report later
TRUST = 0.1  # how much the prices before count, against one equation of the same size
LEAST = 1e-3
# A run that took so many times longer than others do, by what is expected, was interrupted. Judged
# by the last reports, once there are a few.
MOST, RECENT, FEW = 20.0, 32, 8
# What a batch takes besides its events: no plan changes it, but in small ones it is most of all.
BATCH = 5_000.0


class Report(NamedTuple):
    """What a run did for an event, in how many batches an event came, and the nanoseconds."""

    work: Work
    batches: float
    nanoseconds: float

    @property
    def row(self) -> Floats:
        return np.array([*self.work, self.batches])


class Pricing:
    def __init__(self, prices: Prices) -> None:
        self._values = np.array([*(getattr(prices, name) for name in TERMS), BATCH])
        self._typical = np.array([*(getattr(Prices(), name) for name in TERMS), BATCH])
        size = len(self._values)
        self._squares = np.zeros((size, size))
        self._products = np.zeros(size)
        self._recent: deque[Report] = deque(maxlen=RECENT)

    @property
    def prices(self) -> Prices:
        return Prices(*self._values[: len(TERMS)].tolist())

    def hear(self, reports: Iterable[Report]) -> None:
        """Of each run."""
        self._squares *= FORGET
        self._products *= FORGET
        heard = False
        for report in reports:
            if report.nanoseconds <= 0 or self._interrupted(report):
                continue
            # Divided by what was measured: a quick run tells as much as a slow one.
            row = report.row / report.nanoseconds
            self._squares += np.outer(row, row)
            self._products += row
            heard = True
        if heard:
            self._values = self._solved()

    def _interrupted(self, report: Report) -> bool:
        known = [self._over_expected(each) for each in self._recent]
        self._recent.append(report)
        if len(known) < FEW:
            return False
        return self._over_expected(report) > MOST * float(np.median(known))

    def _over_expected(self, report: Report) -> float:
        return report.nanoseconds / float(report.row @ self._values)

    def _solved(self) -> Floats:
        """The least squares, held to the prices before where nothing is known: by the less the
        larger they are, or usually are; one that has come near nothing would stay there else."""
        unit = np.maximum(self._values, self._typical)
        squares = self._squares * np.outer(unit, unit) + TRUST * np.eye(len(unit))
        products = self._products * unit + TRUST * self._values / unit
        factor = np.linalg.cholesky(squares).T
        found, _ = nnls(factor, np.linalg.solve(factor.T, products))
        within: Floats = np.maximum(found * unit, LEAST)
        return within
