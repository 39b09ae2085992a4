"""GLORIA: which queries share which transitions, as the lightest path through candidate plans.

`patterns` and `chains` read the queries, `groups` cuts them into parts with an order, `template`
merges a part. `graph` grows the candidate plans of its pools by the `principles`, weighed by
`weights` under the given `costs`, and thins them by `pruning`; `kleene` is for loops. `search`
takes a path, and `planner` tells it, with `reasons`.
"""

from runtime.plan.planners.gloria.costs import GloriaCosts, PaperCosts
from runtime.plan.planners.gloria.graph import CandidateOptions, GraphSize
from runtime.plan.planners.gloria.patterns import Kleene, PatternPart, Sequence, plus, seq
from runtime.plan.planners.gloria.planner import GloriaPlan, TransitionPlan, TransitionQueries, plan

__all__ = [
    "CandidateOptions",
    "GloriaCosts",
    "GloriaPlan",
    "GraphSize",
    "Kleene",
    "PaperCosts",
    "PatternPart",
    "Sequence",
    "TransitionPlan",
    "TransitionQueries",
    "plan",
    "plus",
    "seq",
]
