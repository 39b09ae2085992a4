"""Options: a pattern shared by only some of its queries, to avoid conflicts (section VII)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from runtime.plan.planners.sharon.candidates import Candidate, Covers, Weight

_TRIMMED = 64  # the most queries of a candidate to trim: each is weighed with all others


def expand(
    whole: Sequence[Candidate], covers: Covers, weight: Weight, limit: int
) -> tuple[tuple[Candidate, ...], bool]:
    """Options of candidates, including the candidates, and whether the list is complete.

    All subsets of two or more queries, if there are at most `limit`. Otherwise each candidate gets
    an equal share: the options that resolve the fewest conflicts.
    """
    if sum(1 << min(len(each.queries), 64) for each in whole) <= limit:
        return tuple(option for each in whole for option in subsets(each)), True
    fair = limit // len(whole)
    if fair < 2:
        return tuple(whole), False
    options = (resolving(each, whole, covers, weight, fair) for each in whole)
    return tuple(option for some in options for option in some), False


def subsets(candidate: Candidate) -> Iterator[Candidate]:
    """Every option, the candidate itself first."""
    for size in range(len(candidate.queries), 1, -1):
        for queries in combinations(candidate.queries, size):
            yield Candidate(candidate.pattern, queries)


def resolving(
    candidate: Candidate, others: Sequence[Candidate], covers: Covers, weight: Weight, limit: int
) -> list[Candidate]:
    """Options without a conflict with one other candidate, then with two, etc., up to `limit`."""
    blocking = {causes(candidate, other, covers) for other in others if other != candidate}
    found = [candidate, *trimmed(candidate, weight)]
    known = set(found)
    for option in found:
        for causing in sorted(blocking, key=lambda each: (len(each), sorted(each))):
            if len(found) >= limit:
                return found
            queries = tuple(query for query in option.queries if query not in causing)
            smaller = Candidate(candidate.pattern, queries)
            if len(queries) > 1 and smaller not in known:
                known.add(smaller)
                found.append(smaller)
    return found


def causes(one: Candidate, other: Candidate, covers: Covers) -> frozenset[str]:
    """The queries in which two candidates conflict (definition 6)."""
    mine, theirs = covers[one.pattern], covers[other.pattern]
    common = set(one.queries).intersection(other.queries)
    return frozenset(query for query in common if mine[query] & theirs[query])


def trimmed(candidate: Candidate, weight: Weight) -> list[Candidate]:
    """The candidate without the queries that only lower its weight, if there are any."""
    pattern, queries = candidate
    if not 2 < len(queries) <= _TRIMMED:
        return []
    total = weight(pattern, queries)
    left = tuple(
        query
        for i, query in enumerate(queries)
        if weight(pattern, queries[:i] + queries[i + 1 :]) <= total
    )
    return [Candidate(pattern, left)] if 1 < len(left) < len(queries) else []
