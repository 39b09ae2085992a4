"""The physical-plan section of an explanation."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.language.query import Query
from runtime.language.window import pane_of
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
    pane, counted = pane_of(query.window for query in queries), first.window.counted
    return OperatorPlan(
        operator=node.operator,
        queries=tuple(query.name for query in queries),
        summary=declaration.summary,
        cost=_unique(declaration.cost(query) for query in queries),
        state_words=sum(declaration.state_words(query) for query in queries),
        state_per="event" if any(query.adjacent for query in queries) else "partition",
        partition_by=node.partition_by,
        semantics=first.semantics.value,
        pane=pane,
        pane_text=phrases.duration(pane, counted),
        counted=counted,
        windows=node.window_strategy,
        why_windows=_why_windows(node.window_strategy, queries),
        aggregates=_unique(text for texts in node.aggregates.values() for text in texts),
        predicates=_unique(
            phrases.condition(each) for several in node.predicates.values() for each in several
        ),
        kleene=tuple(KleenePart(part.text, part.queries) for part in shareable(queries)),
        shared_parts=tuple(part.types for part in node.shared_parts),
        reason=node.reason,
    )


def rejected_operators(plan: PhysicalPlan, query: str) -> tuple[RejectedOperator, ...]:
    return tuple(RejectedOperator(*each) for each in plan.rejections[query])


def adjacent_evaluation(plan: PhysicalPlan, query: Query) -> tuple[str, ...]:
    """How each adjacent condition is evaluated, and why not by an operator that would be faster."""
    how = BY_NAME[plan.node_of(query.name).operator].adjacent
    obstacles = [
        obstacle
        for rejected in plan.rejections[query.name]
        if BY_NAME[rejected.operator].adjacent is not None
        for obstacle in rejected.obstacles
    ]
    why = f", because of {phrases.joined(obstacles)}" if obstacles else ""
    return tuple(f"{phrases.condition(each.written)}: {how}{why}" for each in query.adjacent)


def _why_windows(strategy: str, queries: tuple[Query, ...]) -> str:
    overlap = any(query.window.overlaps for query in queries)
    whose = "its" if len(queries) == 1 else "their"
    return (WINDOWS[strategy] if overlap else APART).format(whose=whose)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
