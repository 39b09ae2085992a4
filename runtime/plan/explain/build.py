"""Puts an explanation together from what the template says of a workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runtime.language import ast as s
from runtime.language.query import Query, Workload
from runtime.plan.explain import phrases
from runtime.plan.explain.explanation import (
    Explanation,
    Predecessors,
    QueryPlan,
    RoutingPlan,
    SharedPart,
    SharePlan,
    StepPlan,
    TemplatePlan,
    TypePlan,
)
from runtime.plan.explain.kleene import kleene_steps, repeating_steps
from runtime.plan.explain.negations import negation_plans
from runtime.plan.explain.plan_section import workload_plan
from runtime.plan.explain.sharing_obstacles import why_alone
from runtime.plan.explain.ways import Chosen, Way, groups, ways
from runtime.plan.operators.graphlet.group_split import crowded, fitting
from runtime.plan.planner import AUTO, plan
from runtime.template.granularity import granularity
from runtime.template.merged import Transition, merge
from runtime.template.query_groups import ShareGroup, kleene_parts, routing_groups


def explain(workload: Workload, ties: str = "strict", planner: str = AUTO) -> Explanation:
    """See `runtime.plan.explain.explain`."""
    chosen = ways(workload)
    planned = plan(workload, planner, compare=True)
    sharing = groups(workload, chosen, planned.plan)
    alone = {group.queries[0].name for group in sharing if len(group.queries) == 1}
    return Explanation(
        ties=ties,
        queries=tuple(_query(query, workload, chosen, alone, planner) for query in workload),
        routing=tuple(
            RoutingPlan(group.attributes, _names(group.queries))
            for group in routing_groups(workload)
        ),
        sharing=tuple(_share(group, chosen) for group in sharing),
        plan=workload_plan(planned, workload),
        template=template_of(workload, sharing),
    )


def _query(
    query: Query,
    workload: Workload,
    chosen: Mapping[str, Chosen],
    alone: set[str],
    planner: str,
) -> QueryPlan:
    kept = granularity(query)
    own = merge([query])
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
        kleene=kleene_parts(query.pattern),
        way=chosen[query.name].way.value,
        obstacles=chosen[query.name].obstacles,
        neighbours=chosen[query.name].neighbours,
        alone=why_alone(query, workload, chosen, planner) if query.name in alone else None,
    )


def _share(group: ShareGroup, chosen: Mapping[str, Chosen]) -> SharePlan:
    way = chosen[group.queries[0].name].way
    parts = fitting(group.queries) if way is Way.BURSTS else [group.queries]
    return SharePlan(
        queries=_names(group.queries),
        way=way.value,
        attributes=group.attributes,
        semantics=group.semantics.value,
        pane=group.pane,
        pane_text=phrases.duration(group.pane, group.counted),
        counted=group.counted,
        kleene=tuple(SharedPart(part.text, part.queries) for part in group.kleene),
        parts=tuple(_names(part) for part in parts),
        crowded=crowded(group.queries) if way is Way.BURSTS else (),
    )


def template_of(workload: Workload, sharing: list[ShareGroup]) -> TemplatePlan:
    merged = merge(workload)
    inside = {query.name: kleene_steps(query) for query in workload}
    back = {(query.name, *step) for query in workload for step in repeating_steps(query)}
    shared = {
        (name, part.text) for group in sharing for part in group.kleene for name in part.queries
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


def _names(queries: Iterable[Query]) -> tuple[str, ...]:
    return tuple(query.name for query in queries)
