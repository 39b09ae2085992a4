"""Explains in words why a burst was shared or split.

The predicted costs of sharing and splitting are recomputed from the decision log with the
coefficients of the policy that decided. Their difference must equal the benefit that the kernel
recorded; otherwise the policy is a different one, and no cost terms are given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from runtime.plan import cost_model
from runtime.plan.decisions import DecisionExample
from runtime.plan.policy import Policy

_SAME = 1e-6


@dataclass(frozen=True)
class CostTerm:
    """The nanoseconds of one kind of work if split and if shared. `each` is the policy's
    coefficient."""

    what: str
    each: float
    split: float
    shared: float


@dataclass(frozen=True)
class DecisionReason:
    """`terms` is empty if nothing was predicted or the policy is no longer available."""

    sentences: tuple[str, ...]
    terms: tuple[CostTerm, ...] = ()

    @property
    def split(self) -> float:
        return sum(term.split for term in self.terms)

    @property
    def shared(self) -> float:
        return sum(term.shared for term in self.terms)


def explain_decision(example: DecisionExample, policies: Iterable[Policy]) -> DecisionReason:
    terms = _terms(example, policies)
    return DecisionReason(tuple(_sentences(example, DecisionReason((), terms))), terms)


# ---- predicted costs -----------------------------------------------------------------------

_WHAT = {
    "scan": "scan events",
    "operator": "begin operators",
    "pick": "note what conditions picked",
    "compare": "compare what they picked",
    "walk": "find the queries of a class",
    "apply": "apply operators to states",
    "join": "queries of one class together",
    "beside": "step queries side by side",
}


def _terms(example: DecisionExample, policies: Iterable[Policy]) -> tuple[CostTerm, ...]:
    policy = next((each for each in policies if each.version == example.policy), None)
    if policy is None or not _has_prediction(example):
        return ()
    coefficients = cost_model.coefficients(policy)
    split, shared = _sides(example)
    saved = float((split - shared) @ coefficients)
    if not math.isclose(saved, example.benefit, rel_tol=_SAME, abs_tol=_SAME):
        return ()
    costs = zip(
        cost_model.TERMS, coefficients, split * coefficients, shared * coefficients, strict=True
    )
    return tuple(
        CostTerm(_WHAT[name], float(each), float(alone), float(together))
        for name, each, alone, together in costs
        if alone or together
    )


def _has_prediction(example: DecisionExample) -> bool:
    """Nothing is predicted if sharing is not a choice."""
    return example.snapshots == 0 or example.vectors > 0


def _sides(example: DecisionExample) -> tuple[cost_model.Floats, cost_model.Floats]:
    """Leaves out the cost of applying a burst on which all queries agree: both sides have it."""
    queries = example.queries
    if example.snapshots == 0:
        events = example.events
        return cost_model.split_work(events, queries, 0), cost_model.shared_work(
            events, queries, 0, 1, 0
        )
    waiting, each = example.snapshots, example.vectors
    shared = cost_model.shared_work(waiting, queries, example.conditions, example.expected, each)
    return cost_model.split_work(waiting, queries, each), shared


# ---- in words ------------------------------------------------------------------------------


def _sentences(example: DecisionExample, predicted: DecisionReason) -> Iterable[str]:
    yield (
        f"A burst of {_many(example.events, 'event')} of type {example.type}, for "
        f"{_many(example.queries, 'query', 'queries')}."
    )
    yield _differences(example)
    if predicted.terms:
        yield (
            f"Splitting was predicted to cost {_time(predicted.split)}, "
            f"sharing {_time(predicted.shared)}: {_benefit(example)}."
        )
    elif _has_prediction(example):
        yield f"By policy {example.policy}: {_benefit(example)}."
    yield _outcome(example)
    if example.nanoseconds:
        yield f"The work took {_time(example.nanoseconds)}."


def _differences(example: DecisionExample) -> str:
    if example.snapshots == 0:
        return "All conditions agreed on them, so one operator serves all queries."
    differed = (
        f"Queries differed on {example.snapshots:,} of them, under "
        f"{_many(example.conditions, 'condition')}."
    )
    if example.vectors == 0:
        return differed
    expected = f" From the bursts before, {example.expected:.1f} classes were expected"
    if example.kind == "split":
        return f"{differed}{expected}."
    return f"{differed}{expected}, and {example.classes:,} found."


def _benefit(example: DecisionExample) -> str:
    if example.benefit > 0:
        return f"sharing was expected to save {_time(example.benefit)}"
    return f"sharing was expected to cost {_time(-example.benefit)} more"


_KINDS = {
    "shared": "So it was shared.",
    "merged": "So it was shared again, after a split.",
    "continued": "So it was shared, as the burst before.",
    "split": "So it was split: every query was evaluated separately.",
}


def _outcome(example: DecisionExample) -> str:
    """Now and then the engine does the opposite, to measure what that costs."""
    if not _has_prediction(example):
        return f"No costs were compared: {example.kind}, as requested."
    if example.kind == "split" and example.benefit > 0:
        return "It was split all the same, as one burst in 4,096 is, to learn what that costs."
    if example.kind != "split" and example.benefit <= 0:
        return "It was shared all the same, as one burst in 16 is, to see whether that has changed."
    return _KINDS[example.kind]


def _many(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def _time(nanoseconds: float) -> str:
    if abs(nanoseconds) < 1e4:
        return f"{nanoseconds:,.0f} ns"
    return (
        f"{nanoseconds / 1e3:,.1f} µs" if abs(nanoseconds) < 1e7 else f"{nanoseconds / 1e6:,.1f} ms"
    )
