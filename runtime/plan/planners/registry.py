"""The planners: small policies that draft which queries of a family share what.

none     every query is evaluated by itself
greedy   what queries share from their first type on, pool by pool, and Kleene parts
sharon   the parts of sequences that are worth most together
gloria   the transitions of all patterns, by the lightest path through candidate plans
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
    """`parts` are those that could be one operator, were it worth it. `links`: whether queries
    with a Kleene part in common are evaluated together; `passes`: whether queries are that share
    nothing but the pass over the events. `reasons` are those of `sets`, a line each."""

    sets: tuple[QuerySet, ...] = ()
    parts: tuple[SharedPart, ...] = ()
    links: bool = True
    passes: bool = True
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Planner(Protocol):
    def __call__(
        self, family: ShareableSet, statistics: Statistics, prices: CostCoefficients
    ) -> PlanDraft: ...


def none(family: ShareableSet, statistics: Statistics, prices: CostCoefficients) -> PlanDraft:
    return PlanDraft(links=False, passes=False)


def greedy(family: ShareableSet, statistics: Statistics, prices: CostCoefficients) -> PlanDraft:
    costs = _costs(family, statistics, prices)
    found = gloria.plan(family.patterns, costs.shares, costs, greedily=True)
    sets, reasons = _told(family, found)
    return PlanDraft(sets, tuple(parts_of_gloria(family, found)), passes=False, reasons=reasons)


def by_sharon(family: ShareableSet, statistics: Statistics, prices: CostCoefficients) -> PlanDraft:
    """Kleene parts are left to bursts."""
    weight = sequence_weight(_costs(family, statistics, prices))
    found = sharon.plan(family.sequences, weight=weight)
    sets, reasons = [], []
    for pattern, names in found.chosen:
        types = [family.types[label] for label in pattern]
        queries = tuple(sorted(names))
        here = [QuerySet(one, other, queries, types[0]) for one, other in pairwise(types)]
        sets += here
        whole = f"all of {', '.join(types)} saves" if len(here) > 1 else "saves"
        why = f"together from {types[0]} on; {whole} {weight(pattern, names):.3g}"
        reasons += [why] * len(here)
    shown = f"which parts of sequences are shared: {found.ending.value}"
    notes = (shown,) if family.sequences else ()
    parts = tuple(parts_of_sharon(family, found))
    return PlanDraft(tuple(sets), parts, reasons=tuple(reasons), notes=notes)


def by_gloria(family: ShareableSet, statistics: Statistics, prices: CostCoefficients) -> PlanDraft:
    costs = _costs(family, statistics, prices)
    found = gloria.plan(family.patterns, costs.shares, costs)
    sets, reasons = _told(family, found)
    parts = tuple(parts_of_gloria(family, found))
    return PlanDraft(sets, parts, reasons=reasons, notes=found.notes)


PLANNERS: dict[str, Planner] = {
    "none": none,
    "greedy": greedy,
    "sharon": by_sharon,
    "gloria": by_gloria,
}


def _costs(family: ShareableSet, statistics: Statistics, prices: CostCoefficients) -> EngineCosts:
    of_types = statistics.shares(family.types.values())
    shares = {label: of_types[type_] for label, type_ in family.types.items()}
    return EngineCosts.of(family, shares, prices)


def _told(
    family: ShareableSet, plan: gloria.GloriaPlan
) -> tuple[tuple[QuerySet, ...], tuple[str, ...]]:
    found = list(_sets(family, plan))
    return tuple(each for each, _ in found), tuple(why for _, why in found)


def _sets(family: ShareableSet, plan: gloria.GloriaPlan) -> Iterator[tuple[QuerySet, str]]:
    for each in plan.transitions:
        source, target = family.types[each.source], family.types[each.target]
        for one in each.sets:
            if one.snapshots is not None and len(one.queries) > 1:
                names = tuple(sorted(one.queries))
                yield (
                    QuerySet(source, target, names, family.types[one.snapshots]),
                    family.spoken(one.why),
                )
