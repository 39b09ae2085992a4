"""The sharing-plan section of an explanation."""

from __future__ import annotations

from runtime.plan.explain.explanation_sections import LongerPart, SetPlan, SharingPlanSection
from runtime.plan.operators.graphlet.declaration import GRAPHLET
from runtime.plan.planner import PlannerResult


def plan_section(planned: PlannerResult) -> SharingPlanSection:
    return SharingPlanSection(
        operator=GRAPHLET.name,
        planner=planned.planner,
        why=planned.why,
        cost=planned.cost,
        alternatives=dict(planned.alternatives),
        transitions=tuple(
            SetPlan(each.source, each.target, each.queries, each.snapshots, why)
            for each, why in zip(planned.plan.transitions, planned.sets, strict=True)
        ),
        parts=tuple(LongerPart(*reason) for reason in planned.parts),
        notes=planned.notes,
    )
