"""Fits the planners' prices to how long runs took.

Every run gives an equation for each report: what the model says it does for an event, and how many
nanoseconds an event took. Old equations are forgotten bit by bit. What the runs say nothing about,
such as settling where nothing is shared as one operator, stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls  # type: ignore[import-untyped]

from runtime.planning.estimate import Work
from runtime.planning.prices import Prices

Floats: TypeAlias = npt.NDArray[np.float64]

TERMS = Work._fields
FORGET = 0.98  # what an equation still counts one report later
TRUST = 0.1  # how much the prices before count, against one equation of the same size
MOST = 20.0  # a run that took so many times longer than thought was interrupted


class Pricing:
    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self._squares = np.zeros((len(TERMS), len(TERMS)))
        self._products = np.zeros(len(TERMS))

    def hear(self, taken: Iterable[tuple[Work, float]]) -> None:
        """Of each run, what it did for an event and the nanoseconds it took."""
        before = self._values()
        self._squares *= FORGET
        self._products *= FORGET
        heard = False
        for work, nanoseconds in taken:
            expected = float(np.dot(work, before))
            if not 0.0 < nanoseconds < MOST * expected:
                continue
            # Divided by what was measured: a quick run tells as much as a slow one.
            row = np.array(work) / nanoseconds
            self._squares += np.outer(row, row)
            self._products += row
            heard = True
        if heard:
            self.prices = self._solved(before)

    def _values(self) -> Floats:
        return np.array([getattr(self.prices, name) for name in TERMS])

    def _solved(self, before: Floats) -> Prices:
        """The least squares, in units of the prices before, held to them where nothing is known."""
        squares = self._squares * np.outer(before, before) + TRUST * np.eye(len(TERMS))
        products = self._products * before + TRUST
        factor = np.linalg.cholesky(squares).T
        found, _ = nnls(factor, np.linalg.solve(factor.T, products))
        return Prices(*(float(max(value, 1e-3)) for value in found * before))
