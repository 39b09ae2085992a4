"""A node of the graph: a candidate plan of one pool."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.plan.planners.gloria.template import QSets


@dataclass(eq=False, slots=True)
class PlanNode:
    """`sets` are the Q-sets in order; all other queries of the pool are not shared. `distance` is
    from all starts to the source of the pool, through it if it is a loop (d_s of the paper);
    `passed` is to its target, including the queries that end there. `ahead` estimates the rest of
    the path if the number of nodes is limited."""

    sets: QSets
    distance: float
    passed: float = 0.0
    ahead: float = 0.0
