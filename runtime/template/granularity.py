"""Chooses the granularity of a query's aggregates (the COGRA paper, table 5, corrected).

Under skip-till-next-match, COGRA keeps one aggregate for the whole pattern, that of the last
matched event. This loses trends (`SEQ(A, B, C)` over a1 b2 a3 c4 has the trend a1 b2 c4), so we
keep what skip-till-any-match keeps. Only `contiguous` can drop all but the last time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from runtime.language.ambiguity import Bindings
from runtime.language.query import Query, Semantics


class Granularity(Enum):
    TYPE = "type"
    MIXED = "mixed"
    PATTERN = "pattern"


@dataclass(frozen=True)
class KeptState:
    """The state that the engine keeps for a query, and why."""

    granularity: Granularity
    event_grained: tuple[str, ...]
    why: str
    twice: str | None


def granularity(query: Query) -> KeptState:
    positions = query.template.positions
    before = {p for c in query.adjacent for p in c.before if positions[p].negation is None}
    stored = tuple(dict.fromkeys(positions[p].alias or positions[p].type for p in sorted(before)))
    twice = Bindings(query.template, query.local).ambiguous
    if query.semantics is Semantics.CONTIGUOUS:
        why = "contiguous: only trends that end at the last time can continue"
        return KeptState(Granularity.PATTERN, (), why, twice)
    if stored:
        why = f"adjacent condition: values of {', '.join(stored)} are kept per event"
        return KeptState(Granularity.MIXED, stored, why, twice)
    why = "no adjacent condition: one aggregate for each state, no event is kept"
    return KeptState(Granularity.TYPE, (), why, twice)
