"""Builds the graph of candidate plans pool by pool along the merged template.

Every pool keeps a limited number of nodes. A combination of nodes, one of each previous pool,
arrives at a pool; the principles generate the pool's own nodes from each combination. If the
queries of a node part, each path gets a share of its distance in proportion to its queries, so that
nothing counts twice when paths meet again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from runtime.plan.planners.gloria.candidate_generation import generate, way_of
from runtime.plan.planners.gloria.edge_cost import EdgeCosts, unshared, within
from runtime.plan.planners.gloria.node import PlanNode
from runtime.plan.planners.gloria.pruning import prune_edges, prune_nodes
from runtime.plan.planners.gloria.template import GloriaTemplate, QSets, TemplatePlace


@dataclass(frozen=True)
class CandidateOptions:
    """`subsets`: how many subsets may merge at a node, besides all; 0 as in the paper. `limit`: how
    many nodes a pool keeps; the planner lets small workloads keep more. `prune`: whether nodes are
    pruned; edges always are if two paths lead to the same node."""

    subsets: int = 6
    limit: int = 8
    prune: bool = True

    @property
    def strict(self) -> bool:
        return self.subsets > 0


@dataclass(frozen=True)
class GraphSize:
    nodes: int = 0
    edges: int = 0

    def __add__(self, other: GraphSize) -> GraphSize:
        return GraphSize(self.nodes + other.nodes, self.edges + other.edges)


@dataclass
class GloriaGraph:
    """`generated` is the size before pruning, `kept` after it."""

    template: GloriaTemplate
    pools: list[list[PlanNode]] = field(default_factory=list)
    generated: GraphSize = field(default_factory=GraphSize)
    kept: GraphSize = field(default_factory=GraphSize)


@dataclass(frozen=True)
class Arrival:
    """The Q-sets that arrive at a pool from one node of each previous pool."""

    sets: QSets
    distance: float


def grow(template: GloriaTemplate, weights: EdgeCosts, options: CandidateOptions) -> GloriaGraph:
    graph = GloriaGraph(template)
    for place in template.places:
        before = max(1, len(place.before))
        nodes: list[PlanNode] = []
        for arrival in _arrivals(graph, place, weights, options.limit):
            nodes += _generate(place, arrival, weights, options.subsets)
        made = GraphSize(len({node.sets for node in nodes}), len(nodes) * before)
        nodes = prune_edges(nodes)
        if options.prune:
            nodes = prune_nodes(weights, place, nodes, options.strict)
        nodes = _nearest(place, nodes, weights, options.limit)
        graph.pools.append(nodes)
        graph.generated += made
        graph.kept += GraphSize(len(nodes), len(nodes) * before)
    return graph


def _generate(
    place: TemplatePlace, arrival: Arrival, weights: EdgeCosts, subsets: int
) -> list[PlanNode]:
    found = []
    for sets in dict.fromkeys(generate(weights, place, arrival.sets, subsets)):
        change = weights.change(place, arrival.sets, sets, place.queries)
        distance = arrival.distance + change + weights.inside(place, sets)
        found.append(PlanNode(sets, distance, distance + weights.onward(place, sets)))
    return found


def _arrivals(
    graph: GloriaGraph, place: TemplatePlace, weights: EdgeCosts, limit: int
) -> list[Arrival]:
    """The nearest combinations, always including the one that shares nothing, since only from
    there a merge needs no evaluation."""
    arrivals = [Arrival((), weights.start(place))]
    for index, queries in place.before:
        parts = _parts(graph, index, queries)
        combined = [
            Arrival(tuple(sorted(one.sets + other.sets)), one.distance + other.distance)
            for one in arrivals
            for other in parts
        ]
        combined.sort(key=lambda each: each.distance)
        arrivals = combined[:limit]
        arrivals += [each for each in combined[limit:] if not each.sets]
    return arrivals


def _parts(graph: GloriaGraph, index: int, queries: int) -> list[Arrival]:
    """Each node of a previous pool, restricted to these queries; of equal ones the nearest."""
    going = sum(mask.bit_count() for _, mask in graph.template.places[index].after)
    share = queries.bit_count() / going
    best: dict[QSets, float] = {}
    for node in graph.pools[index]:
        sets, distance = within(node.sets, queries), node.passed * share
        if distance < best.get(sets, float("inf")):
            best[sets] = distance
    return [Arrival(sets, distance) for sets, distance in best.items()]


def _nearest(
    place: TemplatePlace, nodes: list[PlanNode], weights: EdgeCosts, limit: int
) -> list[PlanNode]:
    """The most promising nodes, always including one that shares nothing."""
    if len(nodes) <= limit:
        return nodes
    for node in nodes:
        node.ahead = _ahead(place, node, weights)
    nodes = sorted(nodes, key=lambda node: node.distance + node.ahead)
    extreme = [node for node in nodes[limit:] if not node.sets]
    return nodes[:limit] + extreme


def _ahead(place: TemplatePlace, node: PlanNode, weights: EdgeCosts) -> float:
    total = 0.0
    for q, snapshots in node.sets:
        way = way_of(place, q)
        total += weights.rest(way, snapshots) + weights.finish(way, snapshots, q.bit_count())
    if rest := unshared(node.sets, place.queries):
        total += rest.bit_count() * weights.rest(way_of(place, rest), None)
    return total
