"""The SHARON planner (sharon.txt, sections III to VII): which sequences share which parts.

The path of a workload, a file for each step:

    candidates ──► benefit ──► conflicts ──► reduction ──► finder ──► filling ──► reasons
       └────────── options (subsets of queries) ──┘           └─ greedy, cliques (bounds)

`planner` puts the steps together; `component` solves one part of the workload by itself.
"""

from runtime.plan.planners.sharon.candidates import Candidate, Weight
from runtime.plan.planners.sharon.component import ComponentBound
from runtime.plan.planners.sharon.planner import SharonPlan, plan

__all__ = ["Candidate", "ComponentBound", "SharonPlan", "Weight", "plan"]
