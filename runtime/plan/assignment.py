"""Makes the physical plan: assigns every query to the first operator that supports it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa

from runtime.language.parser import parse
from runtime.language.query import Query
from runtime.plan.operators.declaration import OperatorDeclaration, PlanContext, Types
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.operators.operator_registry import BY_NAME, OPERATORS
from runtime.plan.physical_plan import PhysicalPlan, Rejection
from runtime.template.query_groups import routing_groups
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.columns import event_type

KnownTypes: TypeAlias = Mapping[str, pa.DataType | None]

# The type of an attribute while only the queries are known.
_ASSUMED = {AttributeKind.TEXT: pa.string(), AttributeKind.BOOL: pa.bool_()}


def attribute_types(queries: Iterable[Query], known: KnownTypes) -> Types:
    """The types of attributes in events: from the columns of the input where they are known, and
    else as queries use them."""
    kinds: dict[str, AttributeKind] = {}
    for query in queries:
        for mention in query.mentions:
            if kinds.get(mention.attribute, AttributeKind.ANY) is AttributeKind.ANY:
                kinds[mention.attribute] = mention.kind
    return {
        name: _ASSUMED.get(kind, pa.float64()) if data_type is None else event_type(data_type, kind)
        for name, kind in kinds.items()
        for data_type in (known.get(name),)
    }


def make_physical_plan(
    queries: Sequence[Query], context: PlanContext, running: PhysicalPlan | None = None
) -> PhysicalPlan:
    """The plan of a workload. With `running`, the successor of that plan after queries or the
    sharing plan have changed: state that cannot move stays in its node."""
    pinned = list(_pinned(queries, running or PhysicalPlan()))
    settled = {query.name: node.operator for node in pinned for query in node.active}
    chosen: dict[str, tuple[OperatorDeclaration, tuple[Rejection, ...]]] = {}
    for query in queries:
        operator, rejections = choose_operator(query, context)
        chosen[query.name] = BY_NAME[settled.get(query.name, operator.name)], rejections
    nodes = pinned
    for routing in routing_groups(q for q in queries if q.name not in settled):
        for operator in OPERATORS:
            members = [q for q in routing.queries if chosen[q.name][0] is operator]
            nodes = [*nodes, *operator.arrange(members, context)] if members else nodes
    places = {query.name: place for place, query in enumerate(queries)}
    nodes.sort(key=lambda node: min(places[query.name] for query in node.active))
    return PhysicalPlan(
        tuple(nodes),
        {name: rejections for name, (_, rejections) in chosen.items()},
        context.sharing_plan.version,
    )


def choose_operator(
    query: Query, context: PlanContext
) -> tuple[OperatorDeclaration, tuple[Rejection, ...]]:
    """The first operator that supports the query, and why those before it do not."""
    rejections: list[Rejection] = []
    by_event = context.sharing_plan.granularity.get(query.name) == "event"
    for operator in OPERATORS:
        if by_event and operator is not OPERATORS[-1]:
            obstacles: tuple[str, ...] = ("granularity `event` in the sharing plan",)
        else:
            obstacles = tuple(operator.obstacles(query, context.types))
        if not obstacles:
            return operator, tuple(rejections)
        rejections.append(Rejection(operator.name, obstacles))
    raise AssertionError("the last operator supports every query")


def describe_plan(plan: PhysicalPlan) -> list[dict[str, Any]]:
    """The plan as a checkpoint names it."""
    return [_describe(node) for node in plan]


def _describe(node: OperatorNode) -> dict[str, Any]:
    """State that cannot move is laid out for all queries of a node, even those that are removed
    before it is restored, so their texts are kept."""
    keeps_texts = not BY_NAME[node.operator].movable and len(node.queries) > 1
    return {
        "operator": node.operator,
        "queries": list(node.names),
        "texts": [query.source.text for query in node.queries] if keeps_texts else [],
        "since": list(node.since),
        "retired": sorted(node.retired),
        "windows": node.window_strategy,
        "shared_parts": [list(part.types) for part in node.shared_parts],
    }


def restore_nodes(
    described: Iterable[Mapping[str, Any]], queries: Sequence[Query]
) -> dict[int, OperatorNode]:
    """The nodes of a checkpoint whose state cannot move and that still have queries, by their
    indexes in its plan."""
    current = {query.name: query for query in queries}
    nodes = {}
    for place, node in enumerate(described):
        if BY_NAME[node["operator"]].movable:
            continue
        gone = {name for name in node["queries"] if name not in current or name in node["retired"]}
        if gone.issuperset(node["queries"]):
            continue
        texts = dict(zip(node["queries"], node["texts"], strict=False))
        members = tuple(
            parse(texts[name])[name] if name in gone else current[name] for name in node["queries"]
        )
        since = tuple(node["since"])
        nodes[place] = OperatorNode(node["operator"], members, since, retired=frozenset(gone))
    return nodes


def _pinned(queries: Sequence[Query], running: PhysicalPlan) -> Iterator[OperatorNode]:
    """The running nodes whose state cannot move, as long as one of their queries is left."""
    names = {query.name for query in queries}
    for node in running:
        if not BY_NAME[node.operator].movable:
            gone = frozenset(name for name in node.names if name not in names)
            left = replace(node, retired=node.retired | gone)
            if left.active:
                yield left
