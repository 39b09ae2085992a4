"""Collects the first error of each row of a batch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runtime.pipeline.event_contract import EventContract, Reason
from runtime.types.columns import Mask


class RowErrors:
    """The first error of each row."""

    def __init__(self, rows: int) -> None:
        self.bad: Mask = np.zeros(rows, dtype=np.bool_)
        self._which = np.zeros(rows, dtype=np.int64)
        self._reasons: list[str] = []

    def add_field(self, rows: Mask, reason: Reason, column: str, contract: EventContract) -> None:
        """Adds an error in a column."""
        if rows.any():
            self.add(rows, contract.text(contract.fault(reason, column)))

    def add(self, rows: Mask, reason: str) -> None:
        new = rows & ~self.bad
        if new.any():
            self._which[new] = len(self._reasons)
            self._reasons.append(reason)
            self.bad |= new

    def reasons(self, rows: npt.NDArray[np.intp]) -> list[str]:
        return [self._reasons[which] for which in self._which[rows].tolist()]
