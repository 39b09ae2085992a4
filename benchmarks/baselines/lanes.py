"""Lanes as kernels like them: a row for each event, sums first, then what is the largest.

A minimum is the largest of the negated. With the count before them, the numbers of a row are
`WIDTH = 1 + lanes`: 1 + `sums` of them add up, the rest do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.baselines.decoded import Decoded, Doubles, Ints
from runtime.language.query import Fold


@dataclass(frozen=True)
class Lanes:
    values: Doubles  #: [event, lane]: 0 or -infinity where the event adds nothing
    sums: int
    nothing: Doubles  #: a row of no trend
    _order: Ints  #: of the lanes of the query
    _signs: Doubles

    @classmethod
    def of(cls, decoded: Decoded) -> Lanes:
        folds = [lane.fold for lane in decoded.query.lanes]
        order = np.array(sorted(range(len(folds)), key=lambda n: folds[n] is not Fold.SUM), int)
        signs = np.array([-1.0 if folds[n] is Fold.MIN else 1.0 for n in order])
        values = np.ascontiguousarray((decoded.values[order] * signs[:, None]).T)
        sums = folds.count(Fold.SUM)
        nothing = np.where(np.arange(1 + len(order)) <= sums, 0.0, -np.inf)
        return cls(values, sums, nothing, order, signs)

    def restored(self, totals: Doubles) -> Doubles:
        """Rows in the order of the query, minima as they are."""
        if self.sums == len(self._order):
            return totals
        found = totals.copy()
        found[:, 1 + self._order] = totals[:, 1:] * self._signs
        return found
