"""Path search: chooses one node of each pool so that the whole plan is cheapest.

With one end the path is traced back from it. With several ends, distances to the ends are computed
on the reversed edges, and the path is chosen forward by them. If paths part and meet again, both
are only estimates, so both paths are weighed exactly, and the lighter one wins. Every node and
every pair of kept nodes is visited a fixed number of times: the search is linear in the pruned
graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from runtime.plan.planners.gloria.edge_cost import EdgeCosts, possible, touching, valid, within
from runtime.plan.planners.gloria.graph import GloriaGraph
from runtime.plan.planners.gloria.node import PlanNode
from runtime.plan.planners.gloria.template import GloriaTemplate, QSets, TemplatePlace

Path = list[QSets]


def search(graph: GloriaGraph, weights: EdgeCosts) -> tuple[Path, float]:
    """The lightest path, and its weight."""
    paths = [_traced_back(graph, weights)]
    if any(len(place.after) > 1 for place in graph.template.places) or ends(graph.template) > 1:
        paths.append(_forward(graph, weights))
    return lightest(graph.template, weights, paths)


def ends(template: GloriaTemplate) -> int:
    return sum(1 for place in template.places if place.ending)


def lightest(
    template: GloriaTemplate, weights: EdgeCosts, paths: Iterable[Path]
) -> tuple[Path, float]:
    mended = [mend(template, path) for path in paths]
    weighed = [(weigh(template, weights, path), i) for i, path in enumerate(mended)]
    weight, i = min(weighed)
    return mended[i], weight


def weigh(template: GloriaTemplate, weights: EdgeCosts, path: Path) -> float:
    """The cost of the whole plan, everything counted once."""
    total = 0.0
    for place, sets in zip(template.places, path, strict=True):
        total += weights.start(place) + weights.inside(place, sets) + weights.onward(place, sets)
        total += weights.change(place, (), sets, place.starting)
        for index, queries in place.before:
            total += weights.edge(place, within(path[index], queries), sets, queries)
    return total


def arriving(place: TemplatePlace, path: Path) -> QSets:
    """The Q-sets that arrive at a place on a path that is complete up to it."""
    return tuple(each for index, mask in place.before for each in within(path[index], mask))


def mend(template: GloriaTemplate, path: Path) -> Path:
    """Merges the sets whose snapshots did not arrive into one set with new snapshots; a single
    query stops sharing."""
    mended: Path = []
    for place, sets in zip(template.places, path, strict=True):
        arrived = arriving(place, mended)
        kept, lost = [], 0
        for q, snapshots in sets:
            if possible(place, arrived, (q, snapshots)):
                kept.append((q, snapshots))
            else:
                lost |= q
        if lost.bit_count() > 1:
            kept.append((lost, place.source))
        mended.append(tuple(sorted(kept)))
    return mended


def never(template: GloriaTemplate) -> Path:
    return [()] * len(template.places)


def always(template: GloriaTemplate, weights: EdgeCosts) -> Path:
    """All queries of a pool share it, with the snapshots they all arrived with or with new
    ones."""
    path: Path = []
    for place in template.places:
        everyone = place.queries
        arrived = arriving(place, path)
        if len(arrived) == 1 and arrived[0][0] == everyone:
            path.append(arrived)
        elif everyone.bit_count() < 2:
            path.append(())
        else:
            choices = [((everyone, type_),) for type_ in place.local]
            path.append(min(choices, key=lambda sets: weights.inside(place, sets)))
    return path


def _traced_back(graph: GloriaGraph, weights: EdgeCosts) -> Path:
    places = graph.template.places
    path: Path = [()] * len(places)
    for index in range(len(places) - 1, -1, -1):

        def onward(node: PlanNode, place: TemplatePlace = places[index]) -> float:
            return node.passed + sum(
                weights.edge(places[after], within(node.sets, queries), path[after], queries)
                for after, queries in place.after
            )

        path[index] = _nearest(graph.pools[index], [onward(node) for node in graph.pools[index]])
    return path


def _forward(graph: GloriaGraph, weights: EdgeCosts) -> Path:
    places = graph.template.places
    to_end = _to_ends(graph, weights)
    path: Path = []
    for place, nodes, distances in zip(places, graph.pools, to_end, strict=True):
        arrived = [(within(path[index], q), q) for index, q in place.before]
        totals = [
            distance + sum(weights.edge(place, sets, node.sets, q) for sets, q in arrived)
            for node, distance in zip(nodes, distances, strict=True)
        ]
        path.append(_nearest(nodes, totals))
    return path


def _to_ends(graph: GloriaGraph, weights: EdgeCosts) -> list[list[float]]:
    """For each node the distance from the source of its pool to all ends (d_e of the paper). If
    paths meet, each is charged the distance in proportion to its queries."""
    places = graph.template.places
    to_ends: list[list[float]] = [[] for _ in places]
    for index in range(len(places) - 1, -1, -1):
        place, nodes = places[index], graph.pools[index]
        totals = [weights.inside(place, n.sets) + weights.onward(place, n.sets) for n in nodes]
        for after, queries in place.after:
            share = queries.bit_count() / places[after].queries.bit_count()
            ahead = [
                (touching(node.sets, queries), share * distance)
                for node, distance in zip(graph.pools[after], to_ends[after], strict=True)
            ]
            shortest: dict[QSets, float] = {}
            for i, node in enumerate(nodes):
                arrived = within(node.sets, queries)
                if arrived not in shortest:
                    shortest[arrived] = _shortest(weights, places[after], arrived, queries, ahead)
                totals[i] += shortest[arrived]
        to_ends[index] = totals
    return to_ends


def _shortest(
    weights: EdgeCosts,
    place: TemplatePlace,
    arrived: QSets,
    queries: int,
    ahead: list[tuple[QSets, float]],
) -> float:
    """The shortest distance to the ends through any node of the next pool; `ahead` has the
    distance from each."""
    nearest = inf
    for sets, distance in ahead:
        if distance < nearest and valid(place, arrived, sets):
            nearest = min(nearest, distance + weights.change(place, arrived, sets, queries))
    return nearest


def _nearest(nodes: list[PlanNode], totals: list[float]) -> QSets:
    """The nearest node; if none is compatible, the one nearest to the start (`mend` fixes it)."""
    best = min(totals)
    if best == inf:
        return min(nodes, key=lambda node: node.passed).sets
    return nodes[totals.index(best)].sets
