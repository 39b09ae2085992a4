"""The cost model of a burst: predicts the nanoseconds of sharing and of splitting it.

A sample is a burst (or the crossing of a pane) whose work was timed. It gives one equation, or two
if comparing conditions was timed separately: the sum of counts times coefficients equals the
measured nanoseconds. `shared_work` and `split_work` are the two sides of the decision; the kernel
compares `benefit` with zero (`benefit_of_classes` in `graphlet/kernel/buffered_burst.py`).
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

#: The coefficients that samples determine, in the order of the columns of equations.
TERMS = ("scan", "operator", "pick", "compare", "walk", "apply", "join", "beside", "cross")
SCAN, OPERATOR, PICK, COMPARE, WALK, APPLY, JOIN, BESIDE, CROSS = range(len(TERMS))
#: The work that was timed, as the kernel records it (`graphlet/kernel/record.py`).
AGREED, CLASSES, APART, CROSSED = range(1, 5)
SAMPLE_KINDS = (AGREED, CLASSES, APART, CROSSED)


class Samples(NamedTuple):
    """Columns of equal length. `waiting` are the events that conditions differed on, `applied` the
    vectors that operators were applied to, `joined` those of several queries of a class, `stepped`
    those of single queries; `compared` of all `nanoseconds` went into comparing. Pickles as
    arrays."""

    kind: Ints
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
    def empty(cls) -> Samples:
        return cls(*(np.zeros(0, np.int64) for _ in cls._fields))

    @classmethod
    def concat(cls, several: Iterable[Samples]) -> Samples:
        each = list(several)
        return cls(*map(np.concatenate, zip(*each, strict=True))) if each else cls.empty()

    @property
    def size(self) -> int:
        return len(self.kind)

    def select(self, rows: npt.NDArray[np.bool_] | slice) -> Samples:
        return Samples(*(column[rows] for column in self))


# ---- the two sides of a decision -----------------------------------------------------------


def split_work(waiting: float, queries: float, each: float) -> Floats:
    """Every query scans the buffered events and applies its operator to its `each` vectors."""
    work = np.zeros(len(TERMS))
    work[[SCAN, OPERATOR, APPLY]] = queries * waiting, queries, queries * each
    work[BESIDE] = queries * each
    return work


def shared_work(
    waiting: float, queries: float, conditions: float, classes: float, each: float
) -> Floats:
    """The events that conditions picked are compared; then each class does the work of one
    query."""
    work = split_work(waiting, classes, each)
    work[PICK] = conditions * waiting
    work[[COMPARE, WALK]] = conditions * classes
    work[JOIN] = min(classes, queries - classes) * each
    # The queries of a class are contiguous: one operator updates each of them.
    work[BESIDE] = queries * each
    return work


def benefit(
    policy: Policy, waiting: float, queries: float, conditions: float, classes: float, each: float
) -> float:
    """The nanoseconds that sharing is predicted to save."""
    shared = shared_work(waiting, queries, conditions, classes, each)
    saved = split_work(waiting, queries, each) - shared
    return float(saved @ coefficients(policy))


# ---- samples -------------------------------------------------------------------------------


def equations(samples: Samples) -> tuple[Floats, Floats]:
    """How often each coefficient counts in the work except comparing, and in comparing, one row
    per sample."""
    work = np.zeros((samples.size, len(TERMS)))
    crossed = samples.kind == CROSSED
    operators = np.select(
        [samples.kind == AGREED, samples.kind == CLASSES, samples.kind == APART],
        [1, samples.classes, samples.queries],
        0,
    )
    work[:, OPERATOR] = operators
    work[:, SCAN] = operators * samples.waiting
    work[:, APPLY] = np.where(crossed, 0, samples.applied)
    work[:, JOIN] = np.where(samples.kind == CLASSES, samples.joined, 0)
    work[:, BESIDE] = np.where(crossed, 0, samples.stepped)
    work[:, CROSS] = np.where(crossed, samples.applied, 0)
    conditions = np.where(samples.kind == CLASSES, samples.conditions, 0)
    work[:, WALK] = conditions * samples.classes
    compared = np.zeros_like(work)
    compared[:, PICK] = conditions * samples.waiting
    compared[:, COMPARE] = conditions * samples.classes
    return work, compared


def alternatives(samples: Samples) -> Floats:
    """The work of sharing and of splitting each burst on which conditions differed, a row each."""
    over = samples.select((samples.kind == CLASSES) | (samples.kind == APART))
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
