"""The GLORIA planner: which queries share which transitions, as a path through candidate plans.

`patterns` and `chains` read the queries, `groups` splits them into groups with an order, `template`
merges a group. `graph` generates the candidate plans of each pool (`candidate_generation`), weighs
them (`edge_cost`, `costs`) and prunes them (`pruning`); `kleene` handles loops. `search` chooses
the lightest path; `planner` turns it into a plan, with reasons (`rationale`).
"""

from runtime.plan.planners.gloria.costs import GloriaCosts, PaperCosts
from runtime.plan.planners.gloria.graph import CandidateOptions, GraphSize
from runtime.plan.planners.gloria.patterns import Kleene, PatternPart, Sequence
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
]
