"""Explains how a workload will be evaluated, and why: as text, JSON or a drawing."""

from runtime.language.query import Workload
from runtime.plan.explain.explanation import Explanation

__all__ = ["Explanation", "explain"]


def explain(workload: Workload, ties: str = "strict", planner: str = "auto") -> Explanation:
    """Explains a workload. `ties` is as for the engine: strict or arrival; `planner` is auto,
    greedy, sharon, gloria or none."""
    from runtime.plan.explain import build  # loads the planner, which takes a while

    return build.explain(workload, ties, planner)
