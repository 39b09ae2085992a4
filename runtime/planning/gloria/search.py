"""Path search: one node of each pool, so that the whole plan is cheapest.

With one end the path is traced back from it. With several ends, distances to the ends are found on
the reversed edges, and the path is chosen forward by them. Where ways part and meet again both
are only estimates, so both paths are made, weighed exactly, and the lighter one is taken. Every
node and every pair of kept nodes is looked at a fixed number of times: the search is linear in
the pruned graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from runtime.planning.gloria.graph import Graph
from runtime.planning.gloria.node import Node
from runtime.planning.gloria.template import Place, QSets, Template
from runtime.planning.gloria.weights import Weights, within

Path = list[QSets]


def search(graph: Graph, weights: Weights) -> tuple[Path, float]:
    """The lightest path, and its weight."""
    paths = [_traced_back(graph, weights)]
    if any(len(place.after) > 1 for place in graph.template.places) or ends(graph.template) > 1:
        paths.append(_forward(graph, weights))
    return lightest(graph.template, weights, paths)


def ends(template: Template) -> int:
    return sum(1 for place in template.places if place.ending)


def lightest(
    template: Template, weights: Weights, paths: Iterable[Path]
) -> tuple[Path, float]:
    mended = [mend(template, path) for path in paths]
    weighed = [(weigh(template, weights, path), i) for i, path in enumerate(mended)]
    weight, i = min(weighed)
    return mended[i], weight


def weigh(template: Template, weights: Weights, path: Path) -> float:
    """The cost of the whole plan, everything counted once."""
    total = 0.0
    for place, sets in zip(template.places, path, strict=True):
        total += weights.start(place) + weights.inside(place, sets) + weights.onward(place, sets)
        total += weights.change(place, (), sets, place.starting)
        for index, queries in place.before:
            total += weights.edge(place, path[index], queries, sets)
    return total


def mend(template: Template, path: Path) -> Path:
    """Sets with snapshots that did not arrive make new ones, together, or share no longer if that
    leaves a query alone."""
    mended: Path = []
    for place, sets in zip(template.places, path, strict=True):
        arrived = {each for index, mask in place.before for each in within(mended[index], mask)}
        kept, lost = [], 0
        for q, snapshots in sets:
            if (q, snapshots) in arrived or (snapshots in place.local and q.bit_count() > 1):
                kept.append((q, snapshots))
            else:
                lost |= q
        if lost.bit_count() > 1:
            kept.append((lost, place.source))
        mended.append(tuple(sorted(kept)))
    return mended


def never(template: Template) -> Path:
    return [()] * len(template.places)


def always(template: Template, weights: Weights) -> Path:
    """Everyone in a pool shares it: with the snapshots they all came with, else with new ones."""
    path: Path = []
    for place in template.places:
        everyone = place.queries
        came = [each for index, mask in place.before for each in within(path[index], mask)]
        if len(came) == 1 and came[0][0] == everyone:
            path.append(tuple(came))
        elif everyone.bit_count() < 2:
            path.append(())
        else:
            choices = [((everyone, type_),) for type_ in place.local]
            path.append(min(choices, key=lambda sets: weights.inside(place, sets)))
    return path


def _traced_back(graph: Graph, weights: Weights) -> Path:
    places = graph.template.places
    path: Path = [()] * len(places)
    for index in range(len(places) - 1, -1, -1):

        def onward(node: Node, place: Place = places[index]) -> float:
            return node.passed + sum(
                weights.edge(places[after], node.sets, queries, path[after])
                for after, queries in place.after
            )

        path[index] = _nearest(graph.pools[index], [onward(node) for node in graph.pools[index]])
    return path


def _forward(graph: Graph, weights: Weights) -> Path:
    places = graph.template.places
    to_end = _to_ends(graph, weights)
    path: Path = []
    for place, nodes, distances in zip(places, graph.pools, to_end, strict=True):
        totals = [
            distance
            + sum(weights.edge(place, path[index], q, node.sets) for index, q in place.before)
            for node, distance in zip(nodes, distances, strict=True)
        ]
        path.append(_nearest(nodes, totals))
    return path


def _to_ends(graph: Graph, weights: Weights) -> list[list[float]]:
    """For each node the distance from the source of its pool to all ends (d_e of the paper). Where
    ways meet, each gets the part of the distance that its queries are."""
    places = graph.template.places
    found: list[list[float]] = [[] for _ in places]
    for index in range(len(places) - 1, -1, -1):
        place = places[index]
        for node in graph.pools[index]:
            total = weights.inside(place, node.sets) + weights.onward(place, node.sets)
            for after, queries in place.after:
                share = queries.bit_count() / places[after].queries.bit_count()
                total += min(
                    weights.edge(places[after], node.sets, queries, other.sets) + share * distance
                    for other, distance in zip(graph.pools[after], found[after], strict=True)
                )
            found[index].append(total)
    return found


def _nearest(nodes: list[Node], totals: list[float]) -> QSets:
    """If none fits what is chosen already, the nearest to the start; the path is mended later."""
    best = min(totals)
    if best == inf:
        return min(nodes, key=lambda node: node.passed).sets
    return nodes[totals.index(best)].sets
