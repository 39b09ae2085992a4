"""GLORIA: which queries share which transitions, as the lightest path through candidate plans."""

from runtime.planning.gloria.costs import Costs, PaperCosts
from runtime.planning.gloria.graph import Options, Size
from runtime.planning.gloria.patterns import Kleene, Part, Sequence, plus, seq
from runtime.planning.gloria.planner import GloriaPlan, QuerySet, TransitionPlan, plan

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
