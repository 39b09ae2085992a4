"""The merged template of each share group as a picture, for a page that shows a running job.

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
from runtime.plan.explain.explanation import TemplatePlan
from runtime.plan.explain.negations import negation_plans
from runtime.plan.explain.ways import groups, ways
from runtime.plan.sharing_plan import Plan
from runtime.template.query_groups import ShareGroup

# More than a person looks at; a larger one takes long to lay out, and cannot be read.
MOST_PICTURES, MOST_QUERIES, MOST_STEPS = 24, 500, 60


def drawings(workload: Workload, plan: Plan | None) -> dict[str, str]:
    """SVG by the name of the group, those of the most queries first. The queries of a group are in
    `data-names`. A workload of very many queries is not drawn."""
    if len(workload) > MOST_QUERIES:
        return {}
    sharing = groups(workload, ways(workload), plan or Plan())
    sharing.sort(key=lambda group: -len(group.queries))
    found = {}
    for group in sharing[:MOST_PICTURES]:
        template = template_of(Workload(group.queries, workload.source), [group])
        if len(template.steps) <= MOST_STEPS:
            names = tuple(query.name for query in group.queries)
            found[group_name(names)] = _picture(group, template, names)
    return found


def _picture(group: ShareGroup, template: TemplatePlan, names: tuple[str, ...]) -> str:
    negations = {query.name: negation_plans(query) for query in group.queries}
    svg = drawn(sketch_of(template, negations), bare=True)
    return svg.replace("<svg ", f"<svg data-names={quoteattr(json.dumps(names))} ", 1)
