"""The merged template of each operator as a picture, for a page that shows a running job.

Made whenever the workload or the plan changes, so nothing is planned for it.
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

# More than a person looks at; a larger one takes long to lay out, and cannot be read.
MOST_PICTURES, MOST_QUERIES, MOST_STEPS = 24, 500, 60


def drawings(workload: Workload, plan: SharingPlan | None) -> dict[str, str]:
    """SVG by the name of the group, those of the most queries first. The queries of a group are in
    `data-names`. A workload of very many queries is not drawn."""
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
