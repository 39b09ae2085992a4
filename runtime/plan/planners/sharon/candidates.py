"""Finds common sub-sequences of queries and their positions in each query (definition 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Pattern = tuple[str, ...]
Queries = tuple[str, ...]
Weight = Callable[[Pattern, Queries], float]
"""The gain if these queries share this pattern."""

Covers = Mapping[Pattern, Mapping[str, int]]
"""For each pattern and query that has it: the positions that it covers there, as bits.

A pattern that occurs several times in a query covers all of its occurrences. So whichever of them
is shared, two patterns with disjoint covers never conflict.
"""


class Candidate(NamedTuple):
    """A pattern and queries that could share it."""

    pattern: Pattern
    queries: Queries


def sharable(queries: Mapping[str, Sequence[str]]) -> dict[Pattern, dict[str, int]]:
    """Every contiguous part of two types or more that two queries or more contain, in order."""
    covers: dict[Pattern, dict[str, int]] = {}
    for query, types in queries.items():
        sequence = tuple(types)
        for start in range(len(sequence) - 1):
            for end in range(start + 2, len(sequence) + 1):
                places = covers.setdefault(sequence[start:end], {})
                places[query] = places.get(query, 0) | (1 << end) - (1 << start)
    return {pattern: covers[pattern] for pattern in sorted(covers) if len(covers[pattern]) > 1}


def candidates(covers: Covers) -> tuple[Candidate, ...]:
    """Each pattern with all the queries that contain it."""
    return tuple(Candidate(pattern, tuple(places)) for pattern, places in covers.items())
