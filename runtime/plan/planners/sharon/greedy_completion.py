"""Completes a plan greedily with options of the candidates that it dropped.

A plan that was not searched among all options may admit more: those queries of a dropped candidate
that have no conflict can still share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from runtime.plan.planners.sharon.candidates import Candidate, Covers, Pattern, Queries, Weight


class GreedyCompletion:
    """A valid plan that grows. New queries join those that already share a pattern."""

    def __init__(self, plan: Iterable[Candidate], covers: Covers, weight: Weight) -> None:
        self.covers = covers
        self.weight = weight
        self.groups: dict[Pattern, Queries] = {}
        self.apart: list[Candidate] = []
        self.covered: dict[str, int] = {}
        for candidate in plan:
            if candidate.pattern in self.groups:
                self.apart.append(candidate)
            else:
                self.groups[candidate.pattern] = candidate.queries
            self._cover(candidate)

    def _cover(self, candidate: Candidate) -> None:
        places = self.covers[candidate.pattern]
        for query in candidate.queries:
            self.covered[query] = self.covered.get(query, 0) | places[query]

    def without_conflicts(self, candidate: Candidate) -> Candidate:
        """The option with the queries that have no conflict with the plan."""
        places, covered = self.covers[candidate.pattern], self.covered
        free = tuple([q for q in candidate.queries if not places[q] & covered.get(q, 0)])
        return Candidate(candidate.pattern, free)

    def gain(self, option: Candidate) -> float:
        """The increase of the plan's score with this option; 0 if there are too few queries."""
        pattern, queries = option
        group = self.groups.get(pattern, ())
        if not queries or len(group) + len(queries) < 2:
            return 0.0
        before = self.weight(pattern, group) if group else 0.0
        return self.weight(pattern, group + queries) - before

    def add(self, option: Candidate) -> None:
        pattern, queries = option
        self.groups[pattern] = self.groups.get(pattern, ()) + queries
        self._cover(option)

    @property
    def plan(self) -> tuple[Candidate, ...]:
        """The chosen candidates, with their queries in the order of the workload."""
        joined = []
        for pattern, queries in self.groups.items():
            sharing = set(queries)
            ordered = tuple(query for query in self.covers[pattern] if query in sharing)
            joined.append(Candidate(pattern, ordered))
        return (*joined, *self.apart)


def complete_greedily(
    plan: Iterable[Candidate], others: Sequence[Candidate], covers: Covers, weight: Weight
) -> tuple[Candidate, ...]:
    """The plan with every option that still fits and pays, the greatest gain first."""
    growing = GreedyCompletion(plan, covers, weight)
    heap = []
    for order, candidate in enumerate(others):
        option = growing.without_conflicts(candidate)
        heap.append((-growing.gain(option), order, option))
    heap = [each for each in heap if each[0] < 0]
    heapify(heap)
    while heap:
        _, order, option = heappop(heap)
        left = growing.without_conflicts(option)
        if left == option:
            growing.add(option)
            continue
        gain = growing.gain(left)
        if gain > 0:
            heappush(heap, (-gain, order, left))
    return growing.plan
