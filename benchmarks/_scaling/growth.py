"""Fits how a cost grows with a size: the exponent of a power law, and a word for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.stats import t  # type: ignore[import-untyped]

from runtime.errors import HamletError

LEAST_POINTS = 5
CONFIDENCE = 0.95
#: A cost whose fitted exponent is smaller does not grow to speak of: by a fifth over three orders
#: of magnitude.
FLAT = 0.03
#: As long as a cost is more than that of the smallest size by less than this part, it hardly grows.
SLIGHT = 0.2
#: Who hardly grows over so many times the smallest size, and then does, is told so.
LONG = 10
#: A form that is further from a point than this part of the cost is said to fit roughly.
ROUGH = 0.15

Floats = npt.NDArray[np.float64]
FORMS: dict[str, Callable[[Floats], Floats]] = {"logarithmic": np.log, "linear": lambda x: x}


@dataclass(frozen=True)
class Growth:
    """cost = factor * size ** exponent. `half` is half of the exponent's confidence interval,
    `residual` the typical distance from that fit, as a part of the cost. `form` is what comes
    nearest: that power law, "constant", or one of FORMS, which is fixed + rate * f(size). `away` is
    the largest distance from the form, as a part of the cost, and `worst` the size that has it."""

    exponent: float
    half: float
    residual: float
    factor: float
    words: str
    form: str
    fixed: float
    rate: float
    away: float = 0.0
    worst: float = 0.0

    def at(self, size: float) -> float:
        """The cost, by the form."""
        if self.form == "power":
            return float(self.factor * size**self.exponent)
        grown = FORMS[self.form](np.array([size]))[0] if self.form in FORMS else 0.0
        return float(self.fixed + self.rate * grown)


def fitted(sizes: Sequence[float], costs: Sequence[float]) -> Growth:
    _check(sizes, costs)
    size, cost = np.asarray(sizes, float), np.asarray(costs, float)
    law = power_law((size,), cost)
    exponent = law.exponents[0]
    form, fixed, rate = _form(size, cost, exponent)
    found = Growth(exponent, law.halves[0], law.residual, law.factor, form, form, fixed, rate)
    off = np.abs(np.array([found.at(each) for each in sizes]) / cost - 1)
    away = float(off.max())
    found = replace(found, away=away, worst=float(size[off.argmax()]))
    words = _words(found, min(sizes), max(sizes))
    return replace(found, words=f"roughly: {words}" if away > ROUGH else words)


@dataclass(frozen=True)
class PowerLaw:
    """value = factor * size ** exponent, over all sizes."""

    factor: float
    exponents: tuple[float, ...]
    halves: tuple[float, ...]
    residual: float


def power_law(sizes: Sequence[Floats], values: Floats) -> PowerLaw:
    """A straight line of logarithms."""
    terms = np.column_stack((np.ones_like(values), *map(np.log, sizes)))
    y = np.log(values)
    found, *_ = np.linalg.lstsq(terms, y)
    free = len(y) - terms.shape[1]
    spread = float(np.sqrt(np.sum((y - terms @ found) ** 2) / free))
    errors = spread * np.sqrt(np.diag(np.linalg.inv(terms.T @ terms)))
    halves = float(t.ppf((1 + CONFIDENCE) / 2, free)) * errors
    return PowerLaw(
        float(np.exp(found[0])),
        tuple(map(float, found[1:])),
        tuple(map(float, halves[1:])),
        float(np.expm1(spread)),
    )


def _check(sizes: Sequence[float], costs: Sequence[float]) -> None:
    if len(sizes) != len(costs) or len(set(sizes)) < LEAST_POINTS:
        raise HamletError(
            f"a growth needs {LEAST_POINTS} different sizes, here are {len(set(sizes))}",
            "measure more points",
        )
    if min(*sizes, *costs) <= 0:
        raise HamletError("a growth is fitted to sizes and costs above 0")


def _words(growth: Growth, least: float, most: float) -> str:
    """A form that leads somewhere at last is no word for a cost that has hardly grown."""
    if growth.form == "power":
        return "falling"
    slight = SLIGHT * growth.at(least)
    if growth.form in FORMS and growth.at(most) - growth.at(least) < slight:
        return "hardly grows"
    if growth.form == "linear" and (until := least + slight / growth.rate) >= LONG * least:
        return f"hardly grows below {float(f'{until:.2g}'):,.0f}, then linear"
    return growth.form


def _form(size: Floats, cost: Floats, slope: float) -> tuple[str, float, float]:
    """The nearest. A power law alone calls a fixed cost with a growing one beside it less than
    linear, wherever it leads."""
    if abs(slope) < FLAT:
        return "constant", float(np.median(cost)), 0.0
    if slope < 0:
        return "power", 0.0, 0.0
    found = {}
    for name, f in FORMS.items():
        # Distances count as parts of the cost: points at small sizes matter as much.
        terms = np.column_stack((np.ones_like(size), f(size))) / cost[:, None]
        (fixed, rate), *_ = np.linalg.lstsq(terms, np.ones_like(cost))
        away = float(np.sum((terms @ (fixed, rate) - 1) ** 2))
        found[name] = away, float(fixed), float(rate)
    name = min(found, key=lambda each: found[each][0])
    return name, *found[name][1:]
