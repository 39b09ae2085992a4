"""In which way the compiled engine evaluates a query, and what keeps it from a quicker one.

From the quickest: whole bursts at a time, shared with other queries; event by event with ordered
indexes for conditions on neighbours; event by event, by a vector where partial trends move, or with
a look at every earlier event where a condition on neighbours asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

import pyarrow as pa

from runtime.language.ambiguity import needs_subsets
from runtime.language.query import Query, Semantics, Workload
from runtime.plan.explain.phrases import condition, joined
from runtime.plan.operators.graphlet import eligibility as graphlets
from runtime.plan.operators.range_index import comparison_edges as ordered
from runtime.plan.share_groups import planned_groups
from runtime.plan.sharing_plan import Plan
from runtime.template.query_groups import ShareGroup, routing_groups, share_groups, shareable
from runtime.types.attribute_kinds import Kind

# What a column is taken to be where nothing but the queries is known.
TYPES = {Kind.TEXT: pa.string(), Kind.BOOL: pa.bool_()}


class Way(Enum):
    BURSTS = "bursts"
    ORDERED = "ordered"
    EVENTS = "events"


@dataclass(frozen=True)
class Chosen:
    """The way of a query; what it has that the quickest way cannot take; and how each of its
    adjacent conditions is answered."""

    way: Way
    obstacles: tuple[str, ...]
    neighbours: tuple[str, ...]


def ways(workload: Workload) -> dict[str, Chosen]:
    types = {name: TYPES.get(kind, pa.float64()) for name, kind in workload.uses.items()}
    return {query.name: _chosen(query, types) for query in workload}


def groups(workload: Workload, chosen: Mapping[str, Chosen], plan: Plan) -> list[ShareGroup]:
    """Share groups as the engine forms them under a plan, in the order of the workload: of queries
    that are evaluated in the same way, if that way can share."""
    found = [_group(queries) for queries in _planned(workload, chosen, plan)]
    found += share_groups(q for q in workload if chosen[q.name].way is Way.ORDERED)
    for query in workload:
        if chosen[query.name].way is Way.EVENTS:
            found += share_groups([query])
    places = {query.name: place for place, query in enumerate(workload)}
    return sorted(found, key=lambda group: places[group.queries[0].name])


def _planned(
    workload: Workload, chosen: Mapping[str, Chosen], plan: Plan
) -> Iterable[tuple[Query, ...]]:
    in_bursts = [query for query in workload if chosen[query.name].way is Way.BURSTS]
    for routing in routing_groups(in_bursts):
        for counted in (False, True):
            alike = [query for query in routing.queries if query.window.counted is counted]
            yield from planned_groups(alike, plan)


def _group(queries: tuple[Query, ...]) -> ShareGroup:
    first = queries[0]
    return ShareGroup(first.partition_by, first.semantics, queries, shareable(queries))


def _chosen(query: Query, types: Mapping[str, pa.DataType]) -> Chosen:
    if graphlets.takes(query):
        return Chosen(Way.BURSTS, (), ())
    obstacles = tuple(_obstacles(query))
    if ordered.takes(query, types):
        return Chosen(Way.ORDERED, obstacles, tuple(_by_index(query)))
    return Chosen(Way.EVENTS, obstacles, tuple(_by_scan(query, types)))


def _obstacles(query: Query) -> Iterable[str]:
    template = query.template
    if query.semantics is not Semantics.ANY:
        yield query.semantics.value
    if query.conjunctive:
        yield "pairs of trends (&)"
    if query.adjacent:
        yield "a condition on neighbours"
    if template.negations:
        yield "NOT"
    if query.least_length > 1:
        yield "LENGTH"
    if query.semantics is Semantics.ANY and not query.conjunctive and needs_subsets(query):
        yield "trends that fit in two ways"
    yield from dict.fromkeys(
        f"{type_} after {type_} in another place of the pattern" for type_ in _repeated(query)
    )


def _repeated(query: Query) -> Iterable[str]:
    """The types of which an event enters a place and another event, from there, another one."""
    type_of = [p.type for p in query.template.positions]
    edges = sorted(query.template.automaton.edges)
    return (type_of[p] for p, q in edges if p != q and type_of[p] == type_of[q])


def _by_index(query: Query) -> Iterable[str]:
    for one in query.adjacent:
        yield f"{condition(one.written)}: an ordered index, O(log n) an event"


def _by_scan(query: Query, types: Mapping[str, pa.DataType]) -> Iterable[str]:
    for one in query.adjacent:
        yield f"{condition(one.written)}: a scan of earlier events, {_why_scan(query, types)}"


def _why_scan(query: Query, types: Mapping[str, pa.DataType]) -> str:
    others = [each for each in _obstacles(query) if each != "a condition on neighbours"]
    if others:
        return f"since the query has {joined(others)}"
    return "since it is not one comparison of two numbers for each step"
