"""Fits the transitions of a lifecycle to given shares, changing them as little as possible.

Let `a[i, j]` be how often state j follows state i by default. We look for flows `f` with
- as many runs of each type as its share and its mean run length ask for, and
- as many entries into each state as exits from it,
which are nearest to `a` in relative entropy. They have the form
`f[i, j] = a[i, j] * exp(x[type of i] + y[i] - y[j])`, and x, y minimise a convex function
with these two conditions as its gradient: a few Newton steps find them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from runtime.generate.lifecycle import Floats

# To skip a state, or one more, is this much less likely than to go through it.
SKIP = 1e-3
RAREST = 1e-12
STEPS = 200
TOLERANCE = 1e-9


def fit(flows: Floats, type_of: NDArray[np.intp], runs: Floats) -> Floats | None:
    """Flows in which type t has `runs[t]` of all runs, or None where none are found."""
    kept = np.flatnonzero(runs[type_of] > 0)
    default = _with_skips(flows, type_of)[np.ix_(kept, kept)]
    source, target = np.nonzero(default)
    features = _features(source, target, type_of[kept], len(runs))
    goal = np.concatenate([runs, np.zeros(len(kept))])
    solved = _newton(default[source, target], features, goal)
    if solved is None:
        return None
    fitted = np.zeros_like(flows)
    fitted[kept[source], kept[target]] = solved
    return fitted


def _with_skips(flows: Floats, type_of: NDArray[np.intp]) -> Floats:
    """Shares may leave no other way than to skip states: drop-offs, but hardly any travel.

    With p the chances of what follows what, this is the flows of p + SKIP p^2 + SKIP^2 p^3 + ...
    Neighbouring runs of one type would be one run, so those stay impossible.
    """
    rates = flows.sum(axis=1, keepdims=True)
    chances = flows / rates
    skipping = rates * (chances @ np.linalg.inv(np.eye(len(flows)) - SKIP * chances))
    differ = type_of[:, None] != type_of[None, :]
    return np.asarray(np.maximum(skipping, RAREST) * differ)


def _features(
    source: NDArray[np.intp], target: NDArray[np.intp], type_of: NDArray[np.intp], types: int
) -> Floats:
    """A row for each transition: 1 at its type, then 1 at what it leaves and -1 at what follows."""
    rows = np.arange(len(source))
    features = np.zeros((len(source), types + len(type_of)))
    features[rows, type_of[source]] = 1.0
    features[rows, types + source] += 1.0
    features[rows, types + target] -= 1.0
    return features


def _newton(weights: Floats, features: Floats, goal: Floats) -> Floats | None:
    """Minimises `sum(weights * exp(features @ x)) - goal @ x`; gives the summands."""
    x = np.zeros(len(goal))
    for _ in range(STEPS):
        flows = weights * np.exp(features @ x)
        gradient = features.T @ flows - goal
        if np.abs(gradient).max() < TOLERANCE:
            return np.asarray(flows)
        hessian = features.T @ (features * flows[:, None])
        step = np.asarray(np.linalg.lstsq(hessian, gradient, rcond=1e-14)[0], dtype=np.float64)
        x = _descend(x, step, weights, features, goal)
    return None


def _descend(x: Floats, step: Floats, weights: Floats, features: Floats, goal: Floats) -> Floats:
    """The longest of the halved steps that does not lead uphill."""

    def height(at: Floats) -> float:
        with np.errstate(over="ignore"):
            return float(np.sum(weights * np.exp(features @ at)) - goal @ at)

    # Near the minimum heights differ by less than their rounding.
    bound = height(x) + 1e-12
    for halving in range(40):
        there = x - step / 2.0**halving
        if height(there) <= bound:
            return there
    return x
