"""The best plan by trying all: every pattern, every subset of queries, every set of those.

It knows nothing of the planner. It is slow, and meant for a handful of short queries.
"""

from collections.abc import Callable, Mapping
from itertools import combinations

Sequences = Mapping[str, tuple[str, ...]]
Weight = Callable[[tuple[str, ...], tuple[str, ...]], float]
Cells = frozenset[tuple[str, int]]


def places(pattern: tuple[str, ...], sequence: tuple[str, ...]) -> set[int]:
    """All positions that a pattern covers in a sequence, wherever it occurs."""
    length = len(pattern)
    starts = [i for i in range(len(sequence) - length + 1) if sequence[i : i + length] == pattern]
    return {start + i for start in starts for i in range(length)}


def options(queries: Sequences, weight: Weight, whole: bool) -> list[tuple[float, Cells]]:
    """Each pattern with all its queries, if `whole`, or with each two or more of them: its
    weight, and what it covers."""
    patterns = {
        sequence[i:j]
        for sequence in queries.values()
        for i in range(len(sequence))
        for j in range(i + 2, len(sequence) + 1)
    }
    found = []
    for pattern in sorted(patterns):
        having = [query for query, sequence in queries.items() if places(pattern, sequence)]
        for size in range(len(having) if whole else 2, len(having) + 1):
            for sharing in combinations(having, size) if size > 1 else ():
                cells = {(q, i) for q in sharing for i in places(pattern, queries[q])}
                found.append((weight(pattern, sharing), frozenset(cells)))
    return found


def best_score(queries: Sequences, weight: Weight, whole: bool = False) -> float:
    """The score of the best plan. Options without a gain are in no best plan."""
    return _best([option for option in options(queries, weight, whole) if option[0] > 0])


def _best(left: list[tuple[float, Cells]]) -> float:
    if not left:
        return 0.0
    (weight, cells), *others = left
    without = _best(others)
    return max(without, weight + _best([each for each in others if not each[1] & cells]))
