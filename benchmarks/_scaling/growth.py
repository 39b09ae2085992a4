"""How a cost grows with a size: the exponent of a power law, fitted to logarithms, and a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from runtime.errors import HamletError

LEAST_POINTS = 5
CONFIDENCE = 0.95
#: A cost whose fitted exponent is smaller does not grow to speak of: by a fifth over three orders
#: of magnitude.
FLAT = 0.03

_Floats = npt.NDArray[np.float64]
FORMS: dict[str, Callable[[_Floats], _Floats]] = {"logarithmic": np.log, "linear": lambda x: x}


@dataclass(frozen=True)
class Growth:
    """cost = factor * size ** exponent. `half` is half of the exponent's confidence interval,
    `residual` the typical distance from that fit, as a part of the cost. `words` names the form
    fixed + rate * f(size) that is nearest, with `fixed` and `rate` of that form."""

    exponent: float
    half: float
    residual: float
    factor: float
    words: str
    fixed: float
    rate: float


def fitted(sizes: Sequence[float], costs: Sequence[float]) -> Growth:
    _check(sizes, costs)
    size, cost = np.asarray(sizes, float), np.asarray(costs, float)
    x, y = np.log(size), np.log(cost)
    slope, at_one = np.polyfit(x, y, 1)
    spread = float(np.sqrt(np.sum((y - at_one - slope * x) ** 2) / (len(x) - 2)))
    error = spread / float(np.sqrt(np.sum((x - x.mean()) ** 2)))
    half = float(t.ppf((1 + CONFIDENCE) / 2, len(x) - 2)) * error
    words, fixed, rate = _form(size, cost, float(slope))
    return Growth(
        float(slope), half, float(np.expm1(spread)), float(np.exp(at_one)), words, fixed, rate
    )


def _check(sizes: Sequence[float], costs: Sequence[float]) -> None:
    if len(sizes) != len(costs) or len(set(sizes)) < LEAST_POINTS:
        raise HamletError(
            f"a growth needs {LEAST_POINTS} different sizes, here are {len(set(sizes))}",
            "measure more points",
        )
    if min(*sizes, *costs) <= 0:
        raise HamletError("a growth is fitted to sizes and costs above 0")


def _form(size: _Floats, cost: _Floats, slope: float) -> tuple[str, float, float]:
    """The nearest form. A power law alone calls a fixed cost with a growing one beside it less than
    linear, wherever it leads."""
    if abs(slope) < FLAT:
        return "constant", float(np.median(cost)), 0.0
    if slope < 0:
        return "falling", float(np.median(cost)), 0.0
    found = {}
    for name, f in FORMS.items():
        # Distances count as parts of the cost: points at small sizes matter as much.
        terms = np.column_stack((np.ones_like(size), f(size))) / cost[:, None]
        (fixed, rate), *_ = np.linalg.lstsq(terms, np.ones_like(cost))
        away = float(np.sum((terms @ (fixed, rate) - 1) ** 2))
        found[name] = away, float(fixed), float(rate)
    name = min(found, key=lambda each: found[each][0])
    return name, *found[name][1:]
