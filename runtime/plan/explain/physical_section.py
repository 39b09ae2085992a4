"""The physical-plan section of an explanation."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from runtime.language.query import Query
from runtime.plan.explain import phrases
from runtime.plan.explain.explanation_sections import KleenePart, OperatorPlan, RejectedOperator
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.operators.operator_registry import BY_NAME
from runtime.plan.physical_plan import PhysicalPlan
from runtime.template.query_groups import shareable

WINDOWS = {
    "auto": "how {whose} windows are kept is decided pane by pane",
    "vectors": "each window has numbers of its own",
    "panes": "a pane is computed once for all windows",
}
APART = "{whose} windows do not overlap"


def operator_plan(node: OperatorNode) -> OperatorPlan:
    queries = node.active
    declaration, first = BY_NAME[node.operator], queries[0]
    pane, counted = _pane(queries), first.window.counted
    return OperatorPlan(
        operator=node.operator,
        queries=tuple(query.name for query in queries),
        summary=declaration.summary,
        cost=_unique(declaration.cost(query) for query in queries),
        partition_by=node.partition_by,
        semantics=first.semantics.value,
        pane=pane,
        pane_text=phrases.duration(pane, counted),
        counted=counted,
        windows=node.window_strategy,
        why_windows=_why_windows(node.window_strategy, queries),
        aggregates=_unique(text for texts in node.aggregates.values() for text in texts),
        predicates=_unique(_predicates(queries)),
        kleene=tuple(KleenePart(part.text, part.queries) for part in shareable(queries)),
        shared_parts=tuple(part.types for part in node.shared_parts),
        reason=node.reason,
    )


def rejected_operators(plan: PhysicalPlan, query: str) -> tuple[RejectedOperator, ...]:
    return tuple(RejectedOperator(*each) for each in plan.rejections[query])


def neighbour_conditions(plan: PhysicalPlan, query: Query) -> tuple[str, ...]:
    """How each adjacent condition is evaluated."""
    operator = plan.node_of(query.name).operator
    conditions = [phrases.condition(each.written) for each in query.adjacent]
    if operator == "range_index":
        return tuple(f"{each}: an ordered index, O(log n) per event" for each in conditions)
    rejected = {each.operator: each.obstacles for each in plan.rejections[query.name]}
    obstacles = phrases.joined(rejected.get("range_index", ("its operator",)))
    return tuple(f"{each}: a scan of earlier events, for {obstacles}" for each in conditions)


def _pane(queries: Iterable[Query]) -> int:
    """The greatest length that divides every window and every slide."""
    return gcd(*(n for q in queries for n in (q.window.within, q.window.slide)))


def _why_windows(strategy: str, queries: tuple[Query, ...]) -> str:
    overlap = any(query.window.overlaps for query in queries)
    whose = "its" if len(queries) == 1 else "their"
    return (WINDOWS[strategy] if overlap else APART).format(whose=whose)


def _predicates(queries: Iterable[Query]) -> Iterable[str]:
    for query in queries:
        yield from (phrases.condition(each.written) for each in query.local)
        yield from (phrases.condition(each.written) for each in query.adjacent)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
