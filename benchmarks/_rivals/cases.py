"""The cases to compare: one kind of query each, over growing windows or workloads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks._rivals.job import Job, Query

WINDOWS = 4
MIDDLE = 8


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    varies: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    job: Callable[[int], Job]


def drawn(shares: dict[str, float], size: int, seed: int = 1) -> pa.Table:
    """Windows of so many events, one event a tick. The first of each is an A and the last a C, so
    that none is without a trend."""
    draw = np.random.default_rng(seed)
    names = [*shares]
    types = draw.choice(len(names), (WINDOWS, size), p=[*shares.values()])
    types[:, 0], types[:, -1] = names.index("A"), names.index("C")
    return _table(types.ravel(), names, draw)


def _table(types: np.ndarray, names: list[str], draw: np.random.Generator) -> pa.Table:
    """`x` are whole numbers, so that sums are the same in any order."""
    size = len(types)
    return pa.table(
        {
            "time": pa.array(np.arange(size, dtype=np.int64)),
            "type": pa.DictionaryArray.from_arrays(types.astype(np.int32), names),
            "x": pa.array(draw.integers(1, 10, size).astype(np.float64)),
        }
    )


def any_match(size: int) -> Job:
    return Job((Query("any"),), drawn({"A": 0.1, "B": 0.8, "C": 0.1}, size), size)


def next_match(size: int) -> Job:
    query = Query("next", "skip-till-next-match")
    return Job((query,), drawn({"A": 0.2, "B": 0.5, "C": 0.2, "D": 0.1}, size), size)


def contiguous(size: int) -> Job:
    query = Query("contiguous", "contiguous")
    return Job((query,), drawn({"A": 0.2, "B": 0.5, "C": 0.2, "D": 0.1}, size), size)


def sequence(size: int) -> Job:
    query = Query("sequence", kleene=False)
    return Job((query,), drawn({"A": 0.3, "B": 0.4, "C": 0.3}, size), size)


def many(queries: int, seed: int = 1) -> Job:
    """Each query has a start and an end of its own; all of them repeat the same B. A window has
    every start, the Bs, every end."""
    draw = np.random.default_rng(seed)
    starts, ends = ([f"{end}{n}" for n in range(queries)] for end in "AC")
    places = np.arange(queries)
    windows = [
        np.r_[1 + draw.permutation(places), np.zeros(MIDDLE, int), 1 + queries + places]
        for _ in range(WINDOWS)
    ]
    table = _table(np.concatenate(windows), ["B", *starts, *ends], draw)
    asked = (Query(f"q{n}", start=starts[n], end=ends[n]) for n in range(queries))
    return Job(tuple(asked), table, len(windows[0]))


CASES = (
    Case(
        "any",
        "SEQ(A, B+, C), skip-till-any-match",
        "events in a window",
        (8, 12, 16, 20, 24, 28, 100, 1_000),
        (8, 16, 24, 1_000),
        any_match,
    ),
    Case(
        "next",
        "SEQ(A, B+, C), skip-till-next-match",
        "events in a window",
        (100, 1_000, 10_000),
        (200, 2_000),
        next_match,
    ),
    Case(
        "contiguous",
        "SEQ(A, B+, C), contiguous",
        "events in a window",
        (100, 1_000, 10_000),
        (200, 2_000),
        contiguous,
    ),
    Case(
        "sequence",
        "SEQ(A, B, C), skip-till-any-match",
        "events in a window",
        (100, 300, 1_000, 3_000, 10_000),
        (100, 1_000),
        sequence,
    ),
    Case(
        "many",
        f"SEQ(Ai, B+, Ci), skip-till-any-match, {MIDDLE} Bs in a window",
        "queries",
        (1, 5, 10, 20),
        (1, 10, 20),
        many,
    ),
)
