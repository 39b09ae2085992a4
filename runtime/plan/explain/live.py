"""Draws the merged template of each operator for the live page of a running job.

Runs whenever the workload or the plan changes, so it reuses the current plan.
"""

from __future__ import annotations

import json
from xml.sax.saxutils import quoteattr

from runtime.language.query import Workload
from runtime.plan.decisions import group_name
from runtime.plan.explain.build import template_of
from runtime.plan.explain.drawing.graph_model import sketch_of
from runtime.plan.explain.drawing.svg import drawn
from runtime.plan.explain.explanation_sections import TemplatePlan
from runtime.plan.explain.negations import negation_plans
from runtime.plan.explain.physical_section import operator_plan
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.planner import physical_plan_of
from runtime.plan.sharing_plan import SharingPlan

# More pictures or queries than these are too many to read; more steps also take long to lay out.
MOST_PICTURES, MOST_QUERIES, MOST_STEPS = 24, 500, 60


def drawings(workload: Workload, plan: SharingPlan | None) -> dict[str, str]:
    """SVG by the name of the group, the largest groups first. `data-names` has the queries of a
    group. A workload with too many queries is not drawn."""
    if len(workload) > MOST_QUERIES:
        return {}
    nodes = sorted(
        physical_plan_of(workload.queries, plan or SharingPlan()),
        key=lambda node: -len(node.queries),
    )
    found = {}
    for node in nodes[:MOST_PICTURES]:
        template = template_of(Workload(node.queries, workload.source), [operator_plan(node)])
        if len(template.steps) <= MOST_STEPS:
            found[group_name(node.names)] = _picture(node, template)
    return found


def _picture(node: OperatorNode, template: TemplatePlan) -> str:
    negations = {query.name: negation_plans(query) for query in node.queries}
    svg = drawn(sketch_of(template, negations), bare=True)
    return svg.replace("<svg ", f"<svg data-names={quoteattr(json.dumps(node.names))} ", 1)
