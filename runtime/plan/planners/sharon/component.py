"""Plans one component of a workload: candidates linked by conflicts, directly or in a chain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from runtime.plan.planners.sharon.candidates import Candidate, Covers, Pattern, Weight
from runtime.plan.planners.sharon.conflicts import ConflictGraph, conflict_graph
from runtime.plan.planners.sharon.finder import Expired, PlanSearch, find
from runtime.plan.planners.sharon.greedy_completion import complete_greedily
from runtime.plan.planners.sharon.options import expand


class ComponentBound(Enum):
    """How the search for a plan ended."""

    OPTIMAL = "no other choice saves more"
    LIMITED = "no choice of those looked at saves more, but there are more"
    EXPIRED = "the search was not finished: this is the greedy choice, or the best found so far"


@dataclass(frozen=True)
class SolvedComponent:
    """A valid plan of some candidates. `greedy` is the score of GWMIN alone, without options.
    `paying` are the patterns whose sharing would pay, `ridden` those of them that exclude so much
    that they were not searched."""

    chosen: tuple[Candidate, ...]
    greedy: float
    ending: ComponentBound
    paying: frozenset[Pattern]
    ridden: frozenset[Pattern]


def score(plan: Iterable[Candidate], weight: Weight) -> float:
    """Definition 8."""
    return sum(weight(*candidate) for candidate in plan)


def solve(
    whole: Sequence[Candidate], covers: Covers, weight: Weight, limit: int, expired: Expired
) -> SolvedComponent:
    """Solves the candidates with all their queries first, which is fast; then `limit` options.

    With no options a pattern is shared by all queries that contain it, or by none.
    """
    graph, found = _search(whole, covers, weight, expired)
    greedy = graph.score(found.greedy)
    if limit == 0:
        ending = ComponentBound.OPTIMAL if found.optimal else ComponentBound.EXPIRED
        return SolvedComponent(
            graph.candidates(found.plan), greedy, ending, *_patterns(graph, found)
        )
    plans = [graph.candidates(found.plan)]
    options, full = expand(whole, covers, weight, 0 if expired() else limit)
    if len(options) > len(whole):
        graph, found = _search(options, covers, weight, expired)
        plans.append(graph.candidates(found.plan))
    if found.optimal and full:
        return SolvedComponent(plans[-1], greedy, ComponentBound.OPTIMAL, *_patterns(graph, found))
    plans = [complete_greedily(plan, whole, covers, weight) for plan in (*plans, ())]
    best = max(plans, key=lambda plan: score(plan, weight))
    ending = ComponentBound.LIMITED if found.optimal else ComponentBound.EXPIRED
    return SolvedComponent(best, greedy, ending, *_patterns(graph, found))


def _search(
    options: Sequence[Candidate], covers: Covers, weight: Weight, expired: Expired
) -> tuple[ConflictGraph, PlanSearch]:
    graph = conflict_graph(((option, weight(*option)) for option in options), covers)
    return graph, find(graph, expired)


def _patterns(
    graph: ConflictGraph, found: PlanSearch
) -> tuple[frozenset[Pattern], frozenset[Pattern]]:
    """Patterns that pay, and those of them that have no option left to search."""
    paying = frozenset(each.pattern for each in graph.vertices)
    left = found.reduction.free | found.reduction.rest
    return paying, paying.difference(each.pattern for each in graph.candidates(left))
