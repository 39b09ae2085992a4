"""The plan of a workload, as it stands in an explanation."""

from __future__ import annotations

from runtime.language.query import Query, Workload
from runtime.plan.explain.explanation import OperatorPlan, RunPlan, SetPlan, WorkloadPlan
from runtime.plan.planner import Planned
from runtime.plan.sharing_plan import Plan

WINDOWS = {
    "auto": "how {whose} windows are kept is decided pane by pane",
    "vectors": "each window has numbers of its own",
    "panes": "a pane is one operator for all windows",
}
APART = "{whose} windows do not overlap"


def workload_plan(planned: Planned, workload: Workload) -> WorkloadPlan:
    plan = planned.plan
    return WorkloadPlan(
        planner=planned.planner,
        why=planned.why,
        cost=planned.cost,
        alternatives=dict(planned.alternatives),
        runs=tuple(_run(names, plan, workload) for names in plan.groups),
        transitions=tuple(
            SetPlan(each.source, each.target, each.queries, each.snapshots, why)
            for each, why in zip(plan.transitions, planned.sets, strict=True)
        ),
        operators=tuple(OperatorPlan(*reason) for reason in planned.parts),
        notes=planned.notes,
    )


def _run(names: tuple[str, ...], plan: Plan, workload: Workload) -> RunPlan:
    strategy = plan.windows_of(names)
    overlap = any(_overlaps(workload[name]) for name in names)
    whose = "its" if len(names) == 1 else "their"
    why = WINDOWS[strategy] if overlap else APART
    return RunPlan(names, strategy, why.format(whose=whose))


def _overlaps(query: Query) -> bool:
    return query.window.overlaps
