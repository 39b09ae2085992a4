"""How a workload will be evaluated, and why: as text, as JSON, as a drawing."""

from runtime.language.query import Workload
from runtime.plan.explain.explanation import Explanation

__all__ = ["Explanation", "explain"]


def explain(workload: Workload, ties: str = "strict", planner: str = "auto") -> Explanation:
    """How a workload will be evaluated. `ties` is as for the engine: strict or arrival; `planner`
    is auto, greedy, sharon, gloria or none."""
    from runtime.plan.explain import build  # asks the engine, which takes a while to load

    return build.explain(workload, ties, planner)
