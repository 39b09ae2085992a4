"""The costs of Kleene loops: a loop, flat or nested, has one plan for all its steps.

The queries of a set share the whole loop, with snapshots of one of its types or with those they
arrived with, or they share none of it. A cycle that changed its snapshots would have to change them
back. So a loop is one pool, and its candidate plans are paths (the paper's path principle).
"""

from __future__ import annotations

from runtime.plan.planners.gloria.costs import GloriaCosts
from runtime.plan.planners.gloria.patterns import KleeneLoop


def shared(costs: GloriaCosts, loop: KleeneLoop, snapshots: str, k: int) -> float:
    """Every query has its own value at the type of the snapshots; elsewhere the expression is
    propagated once for all."""
    return sum(
        costs.into(source, target, k)
        if target == snapshots
        else costs.shared(source, target, snapshots, k)
        for source, target in loop.transitions
    )


def apart(costs: GloriaCosts, loop: KleeneLoop, k: int) -> float:
    return sum(costs.apart(source, target, k) for source, target in loop.transitions)


def promising(costs: GloriaCosts, loop: KleeneLoop, k: int, limit: int) -> tuple[str, ...]:
    """The types whose snapshots make the loop cheapest, and its last type, where expressions are
    then shortest."""
    ranked = sorted(loop.types, key=lambda type_: shared(costs, loop, type_, k))
    return tuple(dict.fromkeys((*ranked[:limit], loop.target)))
