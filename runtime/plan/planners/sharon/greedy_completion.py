"""What a plan leaves unused: options of the candidates that it drops, taken greedily.

A plan that was not found among all options can have room for more: a dropped candidate may still
be shared by those of its queries where nothing is in its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from runtime.plan.planners.sharon.candidates import Candidate, Covers, Pattern, Queries, Weight


class GreedyCompletion:
    """A valid plan that grows. Who shares a pattern already is joined by others."""

    def __init__(self, plan: Iterable[Candidate], covers: Covers, weight: Weight) -> None:
        self.covers = covers
        self.weight = weight
        self.groups: dict[Pattern, Queries] = {}
        self.apart: list[Candidate] = []
        self.taken: dict[str, int] = {}
        for candidate in plan:
            if candidate.pattern in self.groups:
                self.apart.append(candidate)
            else:
                self.groups[candidate.pattern] = candidate.queries
            self._take(candidate)

    def _take(self, candidate: Candidate) -> None:
        places = self.covers[candidate.pattern]
        for query in candidate.queries:
            self.taken[query] = self.taken.get(query, 0) | places[query]

    def room(self, candidate: Candidate) -> Candidate:
        """The option with those queries where nothing is in the way."""
        places, taken = self.covers[candidate.pattern], self.taken
        free = tuple([q for q in candidate.queries if not places[q] & taken.get(q, 0)])
        return Candidate(candidate.pattern, free)

    def gain(self, option: Candidate) -> float:
        """What the plan scores more with this option; nothing if there are too few queries."""
        pattern, queries = option
        group = self.groups.get(pattern, ())
        if not queries or len(group) + len(queries) < 2:
            return 0.0
        before = self.weight(pattern, group) if group else 0.0
        return self.weight(pattern, group + queries) - before

    def add(self, option: Candidate) -> None:
        pattern, queries = option
        self.groups[pattern] = self.groups.get(pattern, ()) + queries
        self._take(option)

    @property
    def plan(self) -> tuple[Candidate, ...]:
        """The chosen candidates, with their queries in the order of the workload."""
        joined = []
        for pattern, queries in self.groups.items():
            sharing = set(queries)
            ordered = tuple(query for query in self.covers[pattern] if query in sharing)
            joined.append(Candidate(pattern, ordered))
        return (*joined, *self.apart)


def fill(
    plan: Iterable[Candidate], others: Sequence[Candidate], covers: Covers, weight: Weight
) -> tuple[Candidate, ...]:
    """The plan with all that still fits and pays, whatever gains most first."""
    filling = GreedyCompletion(plan, covers, weight)
    heap = []
    for order, candidate in enumerate(others):
        option = filling.room(candidate)
        heap.append((-filling.gain(option), order, option))
    heap = [each for each in heap if each[0] < 0]
    heapify(heap)
    while heap:
        _, order, option = heappop(heap)
        left = filling.room(option)
        if left == option:
            filling.add(option)
            continue
        gain = filling.gain(left)
        if gain > 0:
            heappush(heap, (-gain, order, left))
    return filling.plan
