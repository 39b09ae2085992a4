"""What the work on a burst costs, by the coefficients of a policy.

A sample is a burst (or the crossing of a pane) whose work was timed. It gives one equation, or two
where comparing conditions was timed apart from the rest: so many times each coefficient, in all so
many nanoseconds. `shared` and `split` are the two sides of the decision; `benefit` is what the
kernel compares with zero (`benefit_of_classes` in `compiled/graphlets/kernel/waiting.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from runtime.plan.policy import Policy

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

#: The coefficients that samples tell of, in the order of the columns of equations.
TERMS = ("scan", "operator", "pick", "compare", "walk", "apply", "join", "beside", "cross")
SCAN, OPERATOR, PICK, COMPARE, WALK, APPLY, JOIN, BESIDE, CROSS = range(len(TERMS))
#: What was done; as the kernel writes it down (`kernel/record.py`).
AGREED, CLASSES, APART, CROSSED = range(1, 5)
WAYS = (AGREED, CLASSES, APART, CROSSED)


class Samples(NamedTuple):
    """Columns of equal length. `waiting` are the events that conditions differed on, `applied` the
    vectors that operators were applied to, `joined` those of several queries of a class, `stepped`
    those of single queries, `compared` the nanoseconds that comparing took, of all `nanoseconds`.
    Pickles as arrays."""

    way: Ints
    waiting: Ints
    classes: Ints
    queries: Ints
    conditions: Ints
    applied: Ints
    joined: Ints
    stepped: Ints
    compared: Ints
    nanoseconds: Ints
    version: Ints

    @classmethod
    def none(cls) -> Samples:
        return cls(*(np.zeros(0, np.int64) for _ in cls._fields))

    @classmethod
    def all(cls, several: Iterable[Samples]) -> Samples:
        """Those of several engines."""
        found = list(several)
        return cls(*map(np.concatenate, zip(*found, strict=True))) if found else cls.none()

    @property
    def size(self) -> int:
        return len(self.way)

    def those(self, chosen: npt.NDArray[np.bool_] | slice) -> Samples:
        return Samples(*(column[chosen] for column in self))


# ---- the two sides of a decision -----------------------------------------------------------


def split(waiting: float, queries: float, each: float) -> Floats:
    """Every query scans the events that wait and applies what it found to `each` vector."""
    found = np.zeros(len(TERMS))
    found[[SCAN, OPERATOR, APPLY]] = queries * waiting, queries, queries * each
    found[BESIDE] = queries * each
    return found


def shared(
    waiting: float, queries: float, conditions: float, classes: float, each: float
) -> Floats:
    """What conditions picked is compared; then each class does what a query alone would do."""
    found = split(waiting, classes, each)
    found[PICK] = conditions * waiting
    found[[COMPARE, WALK]] = conditions * classes
    found[JOIN] = min(classes, queries - classes) * each
    # The queries of a class lie side by side: each of them is stepped, with one operator.
    found[BESIDE] = queries * each
    return found


def benefit(
    policy: Policy, waiting: float, queries: float, conditions: float, classes: float, each: float
) -> float:
    """The nanoseconds that sharing is predicted to save."""
    saved = split(waiting, queries, each) - shared(waiting, queries, conditions, classes, each)
    return float(saved @ coefficients(policy))


# ---- what was done -------------------------------------------------------------------------


def equations(samples: Samples) -> tuple[Floats, Floats]:
    """How often each coefficient counts in the work apart from comparing, and in comparing, with a
    row for each sample."""
    work = np.zeros((samples.size, len(TERMS)))
    crossed = samples.way == CROSSED
    operators = np.select(
        [samples.way == AGREED, samples.way == CLASSES, samples.way == APART],
        [1, samples.classes, samples.queries],
        0,
    )
    work[:, OPERATOR] = operators
    work[:, SCAN] = operators * samples.waiting
    work[:, APPLY] = np.where(crossed, 0, samples.applied)
    work[:, JOIN] = np.where(samples.way == CLASSES, samples.joined, 0)
    work[:, BESIDE] = np.where(crossed, 0, samples.stepped)
    work[:, CROSS] = np.where(crossed, samples.applied, 0)
    conditions = np.where(samples.way == CLASSES, samples.conditions, 0)
    work[:, WALK] = conditions * samples.classes
    compared = np.zeros_like(work)
    compared[:, PICK] = conditions * samples.waiting
    compared[:, COMPARE] = conditions * samples.classes
    return work, compared


def predicted(policy: Policy, samples: Samples) -> Floats:
    """The nanoseconds of each sample's work."""
    work, compared = equations(samples)
    total: Floats = (work + compared) @ coefficients(policy)
    return total


def alternatives(samples: Samples) -> Floats:
    """Both sides of the decision over bursts on which conditions differed, a row for each side."""
    over = samples.those((samples.way == CLASSES) | (samples.way == APART))
    each = over.stepped / np.maximum(over.queries, 1)
    work = np.zeros((2, over.size, len(TERMS)))
    for side, operators in zip(work, (over.queries, over.classes), strict=True):
        side[:, OPERATOR] = operators
        side[:, SCAN] = operators * over.waiting
        side[:, APPLY] = operators * each
        side[:, BESIDE] = over.stepped
    work[1, :, JOIN] = np.minimum(over.classes, over.queries - over.classes) * each
    work[1, :, PICK] = over.conditions * over.waiting
    work[1, :, COMPARE] = work[1, :, WALK] = over.conditions * over.classes
    return work.reshape(-1, len(TERMS))


# ---- coefficients --------------------------------------------------------------------------


def coefficients(policy: Policy) -> Floats:
    return np.array([getattr(policy, name) for name in TERMS])


def with_coefficients(policy: Policy, values: Floats) -> Policy:
    return replace(policy, **dict(zip(TERMS, values.tolist(), strict=True)))
