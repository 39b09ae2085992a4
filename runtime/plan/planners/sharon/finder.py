"""The sharing plan finder (section VI): searches the valid plans level by level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from runtime.plan.planners.sharon.conflicts import ConflictGraph, connected, members
from runtime.plan.planners.sharon.greedy import gwmin
from runtime.plan.planners.sharon.reduction import Reduction, reduce
from runtime.plan.planners.sharon.upper_bound import cliques, most

Expired = Callable[[], bool]
"""Whether the time to plan is over."""

WIDEST = 200_000
"""The most plans of one level, all of which are in memory; with more the search stops."""

_ABOVE = 1 + 1e-12  # bounds are sums of doubles; a difference within rounding does not count


@dataclass(frozen=True)
class PlanSearch:
    """`plan` is the best plan if `optimal`, otherwise the best found, at least `greedy`."""

    plan: int
    greedy: int
    optimal: bool
    reduction: Reduction


class ValidPlan(NamedTuple):
    """A valid plan, and the later candidates that no member of it excludes.

    These are the last members of its siblings, the plans that differ from it in the last member
    only. Two siblings are joined to a plan of the next level if their last members do not
    conflict (lemma 6). As `siblings` only has such members, one `and` joins a plan with them all.
    """

    plan: int
    score: float
    siblings: int


def find(graph: ConflictGraph, expired: Expired) -> PlanSearch:
    """The best plan of the graph, searched for each connected part; the greedy one if time is
    over."""
    greedy = gwmin(graph, graph.everything)
    if expired():
        return PlanSearch(greedy, greedy, False, Reduction(0, 0, graph.everything))
    reduction = reduce(graph, graph.everything)
    plan, optimal = reduction.free, True
    for part in connected(graph, reduction.rest):
        best, finished = search(graph, part, gwmin(graph, part), expired)
        plan |= best
        optimal &= finished
    # Without the conflict-ridden candidates GWMIN chooses differently, which can be worse.
    if not optimal:
        plan = max(plan, greedy, key=graph.score)
    return PlanSearch(plan, greedy, optimal, reduction)


def search(graph: ConflictGraph, among: int, interim: int, expired: Expired) -> tuple[int, bool]:
    """The best plan found, `interim` or better, and whether the search was complete.

    Plans that cannot exceed the best are dropped with all their descendants.
    """
    best, score = interim, graph.score(interim)
    cut = []
    for clique in cliques(graph, among):
        if expired():
            return best, False
        cut.append(clique)
    level = [ValidPlan(0, 0.0, among)]
    while level:
        following: list[ValidPlan] = []
        for parent in level:
            if parent.score + most(cut, parent.siblings) <= score * _ABOVE:
                continue  # the best has risen since this plan was kept
            for child in children(graph, parent):
                if expired() or len(following) > WIDEST:
                    return best, False
                if child.score > score:
                    best, score = child.plan, child.score
                if child.score + most(cut, child.siblings) > score * _ABOVE:
                    following.append(child)
        level = following
    return best, True


def children(graph: ConflictGraph, parent: ValidPlan) -> list[ValidPlan]:
    """The valid plans of the next level that extend this one; invalid ones are never made."""
    made, siblings = [], parent.siblings
    for v in members(parent.siblings):
        siblings &= ~(1 << v)
        allowed = siblings & ~graph.conflicts[v]
        made.append(ValidPlan(parent.plan | 1 << v, parent.score + graph.weights[v], allowed))
    return made
