"""The growth of a sweep, and how to print it."""

from __future__ import annotations

from benchmarks._scaling.growth import Growth, fitted
from benchmarks._scaling.store import Measured
from benchmarks._scaling.words import number


def growth_of(found: Measured, sweep: str, variant: str) -> Growth:
    """Of CPU time, which changes least on a busy machine."""
    rows = found.of("sweep", sweep, variant)
    return fitted([row.at for row in rows], [row.cpu_ns for row in rows])


def law(growth: Growth) -> str:
    """n is the size."""
    match growth.form:
        case "power":
            return f"{number(growth.factor)} · n^{growth.exponent:.2f}"
        case "constant":
            return number(growth.fixed)
        case "logarithmic":
            return f"{number(growth.fixed)} + {number(growth.rate)} · log n"
        case _:
            return f"{number(growth.fixed)} + {number(growth.rate)} · n"
