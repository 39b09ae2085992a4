"""How throughput grows with cores and aggregators: a power law in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks._scaling.growth import PowerLaw, power_law
from benchmarks._scaling.store import Measured, Row

#: An exponent below this is next to none: twice as many change throughput by less than a tenth.
SMALL = 0.1
#: An exponent of 1 give or take this much is linear for who looks at a handful of points.
ABOUT = 0.25
AGAINST = ("cores", "aggregators")


@dataclass(frozen=True)
class Speedup:
    """events a second = factor * cores ** one exponent * aggregators ** the other."""

    law: PowerLaw

    @property
    def exponents(self) -> dict[str, float]:
        return dict(zip(AGAINST, self.law.exponents, strict=True))

    @property
    def halves(self) -> dict[str, float]:
        return dict(zip(AGAINST, self.law.halves, strict=True))

    def at(self, cores: float, aggregators: float) -> float:
        by_cores, by_aggregators = self.law.exponents
        return float(self.law.factor * cores**by_cores * aggregators**by_aggregators)


def jobs(found: Measured) -> dict[int, list[Row]]:
    """Whole jobs with few epochs, by cores."""
    names = {row.name for row in found.rows if row.kind == "job"}
    cores = sorted(int(each.split()[0]) for each in names if not each.startswith("epochs"))
    return {each: found.of("job", f"{each} cores") for each in cores}


def speedup(found: Measured) -> Speedup | None:
    """None where too little was measured, as on a machine with a single core."""
    points = [(cores, row.at, 1e9 / row.ns) for cores, rows in jobs(found).items() for row in rows]
    if len({cores for cores, *_ in points}) < 2 or len(points) <= 1 + len(AGAINST):
        return None
    cores, aggregators, rates = np.array(points, float).T
    return Speedup(power_law((cores, aggregators), rates))


def words(exponent: float) -> str:
    if abs(exponent) < SMALL:
        return "hardly changes"
    if exponent < 0:
        return "falls"
    if abs(exponent - 1) <= ABOUT:
        return "about linear"
    return "less than linear" if exponent < 1 else "more than linear"
