"""The sharing plan finder (section VI): level by level through the valid plans."""

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
"""Plans in one level, beyond which the search is given up: they are all in memory."""

_ABOVE = 1 + 1e-12  # bounds are sums of doubles; what is above by their rounding only is no more


@dataclass(frozen=True)
class PlanSearch:
    """`plan` is the best there is if `optimal`, else the best that was met, `greedy` at least."""

    plan: int
    greedy: int
    optimal: bool
    reduction: Reduction


class ValidPlan(NamedTuple):
    """A valid plan, and later candidates that no member of it excludes.

    These are the last members of its siblings, the plans that differ from it in the last member
    only. Two siblings are joined to a plan of the next level if their last members do not
    conflict (lemma 6). As `siblings` only has such members, one `and` joins a plan with them all.
    """

    plan: int
    score: float
    siblings: int


def find(graph: ConflictGraph, expired: Expired) -> PlanSearch:
    """The best plan of the graph, each connected part by itself; the greedy one until then."""
    greedy = gwmin(graph, graph.everything)
    if expired():
        return PlanSearch(greedy, greedy, False, Reduction(0, 0, graph.everything))
    reduction = reduce(graph, graph.everything)
    plan, optimal = reduction.free, True
    for part in connected(graph, reduction.rest):
        best, finished = search(graph, part, gwmin(graph, part), expired)
        plan |= best
        optimal &= finished
    # Without the conflict-ridden candidates GWMIN takes another way, which can be a worse one.
    if not optimal:
        plan = max(plan, greedy, key=graph.score)
    return PlanSearch(plan, greedy, optimal, reduction)


def search(graph: ConflictGraph, among: int, interim: int, expired: Expired) -> tuple[int, bool]:
    """The best plan met from `interim` on, and whether all valid plans were gone through.

    Plans that cannot get above the best are left out with all that grows from them.
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
    """The valid plans of the next level that begin with this one; invalid ones are never made."""
    made, siblings = [], parent.siblings
    for v in members(parent.siblings):
        siblings &= ~(1 << v)
        allowed = siblings & ~graph.conflicts[v]
        made.append(ValidPlan(parent.plan | 1 << v, parent.score + graph.weights[v], allowed))
    return made
