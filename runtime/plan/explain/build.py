"""Builds an explanation from the physical plan and the merged template of a workload."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from runtime.errors import check_choice
from runtime.language import ast as s
from runtime.language.parser import parse
from runtime.language.query import Query, Workload
from runtime.plan.assignment import KnownTypes
from runtime.plan.explain import phrases
from runtime.plan.explain.as_text import TIES
from runtime.plan.explain.explanation import Explanation
from runtime.plan.explain.explanation_sections import (
    OperatorPlan,
    Predecessors,
    QueryPlan,
    RoutingPlan,
    StepPlan,
    TemplatePlan,
    TypePlan,
)
from runtime.plan.explain.kleene_steps import kleene_steps, repeating_steps
from runtime.plan.explain.negations import negation_plans
from runtime.plan.explain.physical_section import (
    adjacent_evaluation,
    operator_plan,
    rejected_operators,
)
from runtime.plan.explain.plan_section import plan_section
from runtime.plan.explain.sharing_obstacles import why_alone
from runtime.plan.physical_plan import PhysicalPlan
from runtime.plan.planner import plan
from runtime.template.granularity import granularity
from runtime.template.merged import Transition, merge
from runtime.template.query_groups import kleene_subpatterns, routing_groups


def explain(
    workload: Workload | str, planner: str, ties: str, types: KnownTypes | pa.Schema | None
) -> Explanation:
    """See `runtime.plan.explain.explain`."""
    check_choice("ties", ties, tuple(TIES))
    workload = parse(workload) if isinstance(workload, str) else workload
    known = _known_types(types)
    planned = plan(workload, planner, compare=True, types=known)
    operators = tuple(operator_plan(node) for node in planned.physical)
    return Explanation(
        ties=ties,
        assumed_types=tuple(name for name in workload.uses if known.get(name) is None),
        queries=tuple(_query(query, workload, planned.physical, planner) for query in workload),
        routing=tuple(
            RoutingPlan(group.attributes, tuple(query.name for query in group.queries))
            for group in routing_groups(workload)
        ),
        operators=operators,
        plan=plan_section(planned),
        template=template_of(workload, operators),
    )


def _known_types(types: KnownTypes | pa.Schema | None) -> KnownTypes:
    if isinstance(types, pa.Schema):
        return {field.name: field.type for field in types}
    return types or {}


def _query(query: Query, workload: Workload, physical: PhysicalPlan, planner: str) -> QueryPlan:
    kept = granularity(query)
    own = merge([query])
    node = physical.node_of(query.name)
    before = {t.type: own.predecessors(t.type, query.name) for t in own.types}
    return QueryPlan(
        name=query.name,
        returns=phrases.outputs(query),
        pattern=s.describe(query.pattern),
        semantics=query.semantics.value,
        window=phrases.window(query.window),
        within=query.window.within,
        slide=query.window.slide,
        counted=query.window.counted,
        partition_by=query.partition_by,
        equivalence=query.equivalence,
        group_by=query.group_by,
        local=tuple(phrases.condition(c.written) for c in query.local),
        adjacent=tuple(phrases.condition(c.written) for c in query.adjacent),
        least_length=query.least_length,
        having=None if query.text.having is None else phrases.condition(query.text.having),
        starts=tuple(t.type for t in own.types if t.starts),
        ends=tuple(t.type for t in own.types if t.ends),
        predecessors=tuple(Predecessors(t, found) for t, found in before.items() if found),
        negations=negation_plans(query),
        granularity=kept.granularity.value,
        event_grained=kept.event_grained,
        why=kept.why,
        deterministic=kept.twice is not None,
        twice=kept.twice,
        kleene=kleene_subpatterns(query.pattern),
        operator=node.operator,
        rejected=rejected_operators(physical, query.name),
        adjacent_evaluation=adjacent_evaluation(physical, query),
        alone=why_alone(query, workload, physical, planner) if len(node.active) == 1 else None,
    )


def template_of(workload: Workload, operators: Sequence[OperatorPlan]) -> TemplatePlan:
    merged = merge(workload)
    inside = {query.name: kleene_steps(query) for query in workload}
    back = {(query.name, *step) for query in workload for step in repeating_steps(query)}
    shared = {
        (name, part.pattern) for each in operators for part in each.kleene for name in part.queries
    }
    positive = {p.type for query in workload for p in query.template.positive}
    return TemplatePlan(
        types=tuple(
            TypePlan(t.type, t.starts, t.ends, t.negated, t.type in positive) for t in merged.types
        ),
        steps=tuple(_step(step, inside, back, shared) for step in merged.transitions),
    )


def _step(
    step: Transition,
    inside: dict[str, dict[tuple[str, str], set[str]]],
    back: set[tuple[str, str, str]],
    shared: set[tuple[str, str]],
) -> StepPlan:
    parts = {name: inside[name][step.source, step.target] for name in step.queries}
    return StepPlan(
        source=step.source,
        target=step.target,
        queries=step.queries,
        guarded=step.guarded,
        repeats=tuple(n for n in step.queries if (n, step.source, step.target) in back),
        kleene=tuple(name for name in step.queries if parts[name]),
        shared=tuple(n for n in step.queries if any((n, text) in shared for text in parts[n])),
    )
