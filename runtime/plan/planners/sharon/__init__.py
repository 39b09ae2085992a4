"""The SHARON planner (the SHARON paper, sections III to VII): which sequences share which parts.

The path of a workload, a file for each step:

    candidates ─► benefit ─► conflicts ─► reduction ─► finder ─► greedy_completion ─► rationale
       └──────── options (subsets of queries) ┘          └─ greedy, upper_bound

`planner` combines the steps; `component` solves one independent part of the workload.
"""

from runtime.plan.planners.sharon.candidates import Candidate, Weight
from runtime.plan.planners.sharon.component import ComponentBound
from runtime.plan.planners.sharon.planner import SharonPlan, plan

__all__ = ["Candidate", "ComponentBound", "SharonPlan", "Weight", "plan"]
