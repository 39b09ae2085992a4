"""Columns of wide floats; see `wide_float.py` for one such number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runtime.execution.column import Doubles, Ints, Mask
from runtime.execution.jit import cached_njit
from runtime.execution.wide_float import STEP, add

Exponents = npt.NDArray[np.int32]

# Exponents from here on are past every double, and past every whole number of bits in an int32.
_FAR = 4


@dataclass(frozen=True)
class WideFloatColumn:
    """`mantissa * 2**(512 * exponent)`, in normal form."""

    mantissa: Doubles
    exponent: Exponents

    @classmethod
    def zeros(cls, size: int) -> WideFloatColumn:
        return cls(np.zeros(size), np.zeros(size, np.int32))

    @classmethod
    def of(cls, values: npt.ArrayLike) -> WideFloatColumn:
        """Converts doubles."""
        doubles = np.asarray(values, np.float64)
        large = np.abs(doubles) >= 2.0**STEP
        if not large.any():
            return cls(doubles, np.zeros(len(doubles), np.int32))
        return cls(np.where(large, doubles * 2.0**-STEP, doubles), large.astype(np.int32))

    @classmethod
    def concat(cls, parts: list[WideFloatColumn]) -> WideFloatColumn:
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.mantissa for part in parts]),
            np.concatenate([part.exponent for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.mantissa)

    @property
    def large(self) -> bool:
        """Whether any number exceeds a mantissa; if not, all are finite doubles."""
        return bool(self.exponent.any())

    def take(self, rows: npt.NDArray[np.intp] | Mask) -> WideFloatColumn:
        return WideFloatColumn(self.mantissa[rows], self.exponent[rows])

    def grouped(self, groups: Ints, count: int) -> WideFloatColumn:
        """The sum of each group; `groups` has the number of each row's group."""
        total = WideFloatColumn.zeros(count)
        _add_groups(groups, self.mantissa, self.exponent, total.mantissa, total.exponent)
        return total

    def doubles(self) -> Doubles:
        """Infinite beyond the range of doubles."""
        if not self.large:
            return self.mantissa
        with np.errstate(over="ignore"):
            doubles: Doubles = np.ldexp(self.mantissa, STEP * np.minimum(self.exponent, _FAR))
        return doubles

    def log2(self) -> Doubles:
        """The base-2 logarithm of the absolute value."""
        with np.errstate(divide="ignore"):
            logs: Doubles = np.log2(np.abs(self.mantissa)) + STEP * self.exponent.astype(np.float64)
        return logs

    def over(self, divisor: WideFloatColumn) -> Doubles:
        """Quotients as doubles; NaN if the divisor is zero. The divisor is a count."""
        apart = np.clip(self.exponent - divisor.exponent, -_FAR, _FAR)
        with np.errstate(all="ignore"):
            quotients = self.mantissa / divisor.mantissa
            return np.ldexp(quotients, STEP * apart) if apart.any() else quotients


@cached_njit
def _add_groups(
    groups: Ints, mantissa: Doubles, exponent: Exponents, totals: Doubles, scales: Exponents
) -> None:
    # Rows of one group are mostly contiguous, so their sum stays in registers.
    last, m, e = -1, 0.0, np.int32(0)
    for row in range(len(groups)):
        group = groups[row]
        if group != last:
            if last >= 0:
                totals[last], scales[last] = m, e
            last, m, e = group, totals[group], scales[group]
        m, e = add(m, e, mantissa[row], exponent[row])
    if last >= 0:
        totals[last], scales[last] = m, e
