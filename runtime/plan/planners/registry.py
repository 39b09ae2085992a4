"""The registry of planners: functions that draft what the queries of a shareable set share.

none     shares nothing
greedy   shares from the first type of queries on, pool by pool, and Kleene parts
sharon   shares the sub-sequences with the greatest total benefit
gloria   shares transitions of all patterns, by the lightest path through candidate plans
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.planners import gloria, sharon
from runtime.plan.planners.cost import EngineCosts, sequence_weight
from runtime.plan.planners.lowering import parts_of_gloria, parts_of_sharon
from runtime.plan.planners.shareable_set import ShareableSet
from runtime.plan.sharing_plan import QuerySet, SharedPart
from runtime.plan.statistics import Statistics


@dataclass(frozen=True)
class PlanDraft:
    """`parts` are sub-patterns that become one operator if that pays. `links`: whether queries
    with a common Kleene part are evaluated together; `passes`: whether queries that share only
    the pass over the events are. `reasons` has a line for each of `sets`."""

    sets: tuple[QuerySet, ...] = ()
    parts: tuple[SharedPart, ...] = ()
    links: bool = True
    passes: bool = True
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Planner(Protocol):
    def __call__(
        self, shareable: ShareableSet, statistics: Statistics, coefficients: CostCoefficients
    ) -> PlanDraft: ...


def none(
    shareable: ShareableSet, statistics: Statistics, coefficients: CostCoefficients
) -> PlanDraft:
    return PlanDraft(links=False, passes=False)


def greedy(
    shareable: ShareableSet, statistics: Statistics, coefficients: CostCoefficients
) -> PlanDraft:
    costs = _costs(shareable, statistics, coefficients)
    plan = gloria.plan(shareable.patterns, costs.shares, costs, greedily=True)
    sets, reasons = _shared_sets(shareable, plan)
    return PlanDraft(sets, tuple(parts_of_gloria(shareable, plan)), passes=False, reasons=reasons)


def by_sharon(
    shareable: ShareableSet, statistics: Statistics, coefficients: CostCoefficients
) -> PlanDraft:
    """Plans sequences only; the engine decides on Kleene parts burst by burst."""
    weight = sequence_weight(_costs(shareable, statistics, coefficients))
    plan = sharon.plan(shareable.sequences, weight=weight)
    sets, reasons = [], []
    for pattern, names in plan.chosen:
        types = [shareable.types[label] for label in pattern]
        queries = tuple(sorted(names))
        here = [QuerySet(one, other, queries, types[0]) for one, other in pairwise(types)]
        sets += here
        whole = f"all of {', '.join(types)} saves" if len(here) > 1 else "saves"
        why = f"together from {types[0]} on; {whole} {weight(pattern, names):.3g}"
        reasons += [why] * len(here)
    note = f"which parts of sequences are shared: {plan.ending.value}"
    notes = (note,) if shareable.sequences else ()
    parts = tuple(parts_of_sharon(shareable, plan))
    return PlanDraft(tuple(sets), parts, reasons=tuple(reasons), notes=notes)


def by_gloria(
    shareable: ShareableSet, statistics: Statistics, coefficients: CostCoefficients
) -> PlanDraft:
    costs = _costs(shareable, statistics, coefficients)
    plan = gloria.plan(shareable.patterns, costs.shares, costs)
    sets, reasons = _shared_sets(shareable, plan)
    parts = tuple(parts_of_gloria(shareable, plan))
    return PlanDraft(sets, parts, reasons=reasons, notes=plan.notes)


PLANNERS: dict[str, Planner] = {
    "none": none,
    "greedy": greedy,
    "sharon": by_sharon,
    "gloria": by_gloria,
}


def _costs(
    shareable: ShareableSet, statistics: Statistics, coefficients: CostCoefficients
) -> EngineCosts:
    of_types = statistics.shares(shareable.types.values())
    shares = {label: of_types[type_] for label, type_ in shareable.types.items()}
    return EngineCosts.of(shareable, shares, coefficients)


def _shared_sets(
    shareable: ShareableSet, plan: gloria.GloriaPlan
) -> tuple[tuple[QuerySet, ...], tuple[str, ...]]:
    sets = list(_sets(shareable, plan))
    return tuple(each for each, _ in sets), tuple(why for _, why in sets)


def _sets(shareable: ShareableSet, plan: gloria.GloriaPlan) -> Iterator[tuple[QuerySet, str]]:
    for each in plan.transitions:
        source, target = shareable.types[each.source], shareable.types[each.target]
        for one in each.sets:
            if one.snapshots is not None and len(one.queries) > 1:
                names = tuple(sorted(one.queries))
                yield (
                    QuerySet(source, target, names, shareable.types[one.snapshots]),
                    shareable.with_types(one.why),
                )
