"""Checks what a job wrote against what it should have written: every row once and right.

A query may come and go while the job runs. Its span says which windows it has to report; where
nobody can know the exact moment, the span has bounds, and all windows on one side of one moment
within them must be there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

#: The columns of a row with their values, as `stream.written` gives them.
Row = tuple[tuple[str, object], ...]
Rows = Counter[Row]
#: Where a row came from: a file or partition, and its number there.
Place = tuple[str, int]

# The columns that tell rows of a query apart: the window's start and end, and one group.
KEY = 3
# How many problems of one kind and query are told in full.
TOLD = 3


@dataclass(frozen=True)
class Between:
    """A moment of event time that is not known any better."""

    low: float
    high: float

    def nearest(self, moment: float) -> float:
        return min(max(moment, self.low), self.high)


ALWAYS = Between(-math.inf, -math.inf)
NEVER = Between(math.inf, math.inf)


@dataclass(frozen=True)
class Span:
    """A query reports windows that start after the moment `begins` and end by the moment `ends`.
    One that was not `acknowledged` may as well not exist."""

    begins: Between = ALWAYS
    ends: Between = NEVER
    acknowledged: bool = True

    def due(self, truth: Rows, found: Rows) -> set[Row]:
        """The rows that must be there, given what is there: found rows tell where between its
        bounds a moment was."""
        starts, ends = zip(*map(window, found), strict=True) if found else ((), ())
        if not found and not self.acknowledged:
            return set()
        first = self.begins.nearest(min(starts, default=math.inf) - 1)
        last = self.ends.nearest(max(ends, default=-math.inf))
        return {row for row in truth if window(row)[0] > first and window(row)[1] <= last}


@dataclass(frozen=True)
class Problem:
    kind: str
    of: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind} in {self.of}: {self.what}"


@dataclass(frozen=True)
class Counts:
    """What the job says of its input."""

    rows: int
    events: int
    late: int
    dead: int


@dataclass(frozen=True)
class Expected:
    """What a job should have written. `truth` has all rows of every query that there ever was."""

    truth: Mapping[str, Rows]
    spans: Mapping[str, Span]
    counts: Counts
    late: Counter[Place]
    dead: Counter[Place]


@dataclass
class Written:
    """What it has written."""

    results: Mapping[str, Rows] = field(default_factory=dict)
    late: Counter[Place] = field(default_factory=Counter)
    dead: Counter[Place] = field(default_factory=Counter)


def check(expected: Expected, counts: Counts, written: Written) -> list[Problem]:
    problems = check_counts(expected.counts, counts)
    for name in sorted(expected.truth.keys() | written.results.keys()):
        span = expected.spans.get(name, Span(ends=Between(-math.inf, -math.inf)))
        truth, found = expected.truth.get(name, Rows()), written.results.get(name, Rows())
        problems += check_query(name, truth, found, span)
    problems += check_places("late rows", expected.late, written.late)
    problems += check_places("dead letters", expected.dead, written.dead)
    return problems


def check_counts(expected: Counts, found: Counts) -> list[Problem]:
    problems = []
    if found.rows != found.events + found.late + found.dead:
        problems.append(Problem("sum", "counts", f"rows are not events + late + dead: {found}"))
    if found != expected:
        problems.append(Problem("wrong", "counts", f"{found}, and should be {expected}"))
    return problems


def check_query(name: str, truth: Rows, found: Rows, span: Span) -> list[Problem]:
    due = span.due(truth, found)
    right = {row[:KEY]: row for row in truth}
    problems = [Problem("twice", name, _shown(row)) for row, times in found.items() if times > 1]
    for row in found.keys() - due:
        known = right.get(row[:KEY])
        if known is None:
            problems.append(Problem("stray", name, _shown(row)))
        elif known != row:
            problems.append(Problem("wrong", name, f"{_shown(row)}, and should be {_shown(known)}"))
        else:
            problems.append(Problem("stray", name, f"{_shown(row)}, a window outside of {span}"))
    keys = {row[:KEY] for row in found}
    lost = [row for row in due - found.keys() if row[:KEY] not in keys]
    return problems + [Problem("lost", name, _shown(row)) for row in sorted(lost, key=window)]


def check_places(name: str, expected: Counter[Place], found: Counter[Place]) -> list[Problem]:
    problems = [Problem("twice", name, str(place)) for place, n in found.items() if n > 1]
    problems += [Problem("lost", name, str(place)) for place in expected.keys() - found.keys()]
    problems += [Problem("stray", name, str(place)) for place in found.keys() - expected.keys()]
    return problems


def summarized(problems: list[Problem]) -> list[str]:
    """The first problems of each kind and query in full, and how many more there are."""
    grouped: dict[tuple[str, str], list[Problem]] = {}
    for each in problems:
        grouped.setdefault((each.kind, each.of), []).append(each)
    lines = []
    for (kind, of), members in grouped.items():
        lines += map(str, members[:TOLD])
        if members[TOLD:]:
            lines.append(f"{kind} in {of}: {len(members) - TOLD} more")
    return lines


def window(row: Row) -> tuple[float, float]:
    """Its start and end."""
    (_, start), (_, end) = row[:2]
    assert isinstance(start, int | float)
    assert isinstance(end, int | float)
    return start, end


def _shown(row: Row) -> str:
    return ", ".join(f"{name} {value}" for name, value in row)
