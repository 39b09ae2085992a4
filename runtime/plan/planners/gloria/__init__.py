"""GLORIA: which queries share which transitions, as the lightest path through candidate plans.

`patterns` and `chains` read the queries, `groups` cuts them into parts with an order, `template`
merges a part. `graph` grows the candidate plans of its pools by the `principles`, weighed by
`weights` under the given `costs`, and thins them by `pruning`; `kleene` is for loops. `search`
takes a path, and `planner` tells it, with `reasons`.
"""

from runtime.plan.planners.gloria.costs import Costs, PaperCosts
from runtime.plan.planners.gloria.graph import Options, Size
from runtime.plan.planners.gloria.patterns import Kleene, Part, Sequence, plus, seq
from runtime.plan.planners.gloria.planner import GloriaPlan, QuerySet, TransitionPlan, plan

__all__ = [
    "Costs",
    "GloriaPlan",
    "Kleene",
    "Options",
    "PaperCosts",
    "Part",
    "QuerySet",
    "Sequence",
    "Size",
    "TransitionPlan",
    "plan",
    "plus",
    "seq",
]
