"""The SHARON graph (definition 10): candidates with their weights, and which exclude each other.

A set of vertices is an integer with a bit for each, which makes set operations fast. Vertices are
ordered by weight: the lowest bit of a set is its heaviest member.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from runtime.plan.planners.sharon.candidates import Candidate, Covers


@dataclass(frozen=True)
class ConflictGraph:
    """`conflicts[v]` are the vertices that `v` excludes from a plan."""

    vertices: tuple[Candidate, ...]
    weights: tuple[float, ...]
    conflicts: tuple[int, ...]

    @property
    def everything(self) -> int:
        return (1 << len(self.vertices)) - 1

    def score(self, plan: int) -> float:
        """Definition 8."""
        return sum(self.weights[v] for v in members(plan))

    def candidates(self, plan: int) -> tuple[Candidate, ...]:
        return tuple(self.vertices[v] for v in members(plan))


def members(vertices: int) -> Iterator[int]:
    """The vertices of a set, the heaviest first."""
    while vertices:
        lowest = vertices & -vertices
        yield lowest.bit_length() - 1
        vertices ^= lowest


def conflict_graph(weighted: Iterable[tuple[Candidate, float]], covers: Covers) -> ConflictGraph:
    """Algorithm 1. Only candidates that pay become vertices.

    Candidates conflict if they cover the same position of the same query. So the graph is built
    from the candidates at each position, without comparing pairs.
    """
    paying = sorted((each for each in weighted if each[1] > 0), key=lambda each: -each[1])
    vertices = tuple(candidate for candidate, _ in paying)
    covering: dict[tuple[str, int], int] = defaultdict(int)
    for v, candidate in enumerate(vertices):
        for position in _positions(candidate, covers):
            covering[position] |= 1 << v
    conflicts = []
    for v, candidate in enumerate(vertices):
        met = 0
        for position in _positions(candidate, covers):
            met |= covering[position]
        conflicts.append(met & ~(1 << v))
    return ConflictGraph(vertices, tuple(weight for _, weight in paying), tuple(conflicts))


def _positions(candidate: Candidate, covers: Covers) -> Iterator[tuple[str, int]]:
    places = covers[candidate.pattern]
    for query in candidate.queries:
        for position in members(places[query]):
            yield query, position


def connected(graph: ConflictGraph, among: int) -> list[int]:
    """The connected components of a graph, the smallest first."""
    parts = []
    while among:
        part = new = among & -among
        while new:
            met = 0
            for v in members(new):
                met |= graph.conflicts[v]
            new = met & among & ~part
            part |= new
        parts.append(part)
        among &= ~part
    return sorted(parts, key=int.bit_count)


def components(covers: Covers, all_candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Groups of candidates that can be planned separately, the smallest first; needs no graph.

    Includes candidates that do not pay, as a subset of their queries may.
    """
    leader = list(range(len(all_candidates)))

    def lead(v: int) -> int:
        while leader[v] != v:
            leader[v] = v = leader[leader[v]]
        return v

    stretches: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for v, (pattern, queries) in enumerate(all_candidates):
        for query in queries:
            covered, apart = covers[pattern][query], []
            for stretch, owner in stretches[query]:
                if stretch & covered:
                    covered |= stretch
                    leader[lead(owner)] = lead(v)
                else:
                    apart.append((stretch, owner))
            stretches[query] = [*apart, (covered, v)]
    parts: dict[int, list[Candidate]] = defaultdict(list)
    for v, candidate in enumerate(all_candidates):
        parts[lead(v)].append(candidate)
    return sorted(parts.values(), key=len)
