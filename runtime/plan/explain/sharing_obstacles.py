"""Explains why a query shares nothing with any other."""

from __future__ import annotations

from runtime.language.query import Query, Workload
from runtime.plan.explain.phrases import joined, shortened
from runtime.plan.operators.graphlet.declaration import GRAPHLET
from runtime.plan.operators.operator_registry import BY_NAME
from runtime.plan.physical_plan import PhysicalPlan
from runtime.template.query_groups import kleene_subpatterns


def why_alone(query: Query, workload: Workload, physical: PhysicalPlan, planner: str) -> str:
    """The reason: a property of the query; or the closest query, which has a common Kleene part,
    and how it differs; or the planner."""
    parts = kleene_subpatterns(query.pattern)
    others = [other for other in workload if other.name != query.name]
    if not others:
        return "it is the only query"
    operator = BY_NAME[physical.node_of(query.name).operator]
    if planner == "none" and operator is GRAPHLET:
        return "the planner `none` evaluates every query separately"
    if not parts:
        return "its pattern has no Kleene part"
    if not operator.shares:
        return f"the {operator.name} operator evaluates one query at a time"
    alike: dict[tuple[str, str], list[str]] = {}
    for other in others:
        if common := _common(parts, other):
            difference = _difference(query, other, physical)
            alike.setdefault((joined(common), difference), []).append(other.name)
    if not alike:
        return f"no other query has {joined(parts)}"
    return "; ".join(
        f"{shortened(names)} {_has(names)} {common} too, but {difference}"
        for (common, difference), names in alike.items()
    )


def _common(parts: tuple[str, ...], other: Query) -> list[str]:
    theirs = kleene_subpatterns(other.pattern)
    return [part for part in parts if part in theirs]


def _has(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _difference(query: Query, other: Query, physical: PhysicalPlan) -> str:
    if query.partition_by != other.partition_by:
        if not other.partition_by:
            return "without partitions"
        return f"in partitions by {joined(other.partition_by)}"
    if query.semantics is not other.semantics:
        return f"with {other.semantics.value}"
    if query.window.kind != other.window.kind:
        return f"in windows of {other.window.kind}"
    mine, theirs = _obstacles(query, physical), _obstacles(other, physical)
    if more := [each for each in theirs if each not in mine]:
        return f"with {joined(more)}"
    if less := [each for each in mine if each not in theirs]:
        return f"without {joined(less)}"
    return "the plan keeps them apart"


def _obstacles(query: Query, physical: PhysicalPlan) -> tuple[str, ...]:
    """The features of a query that the operator that shares most does not support."""
    rejected = {each.operator: each.obstacles for each in physical.rejections[query.name]}
    return rejected.get(GRAPHLET.name, ())
