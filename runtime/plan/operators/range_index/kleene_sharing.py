"""Which Kleene states queries can share under comparisons, their size and the cost per event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from runtime.language.query import Fold, Query
from runtime.plan.operators.range_index.comparison_edges import Edge

# Every snapshot is a lane of every later event, so even `always` has a limit.
MOST_SNAPSHOTS = 64


@dataclass(frozen=True)
class KleeneCoefficients:
    """Measured nanoseconds per event: for each snapshot of its state, for each number that queries
    keep of it separately, and to turn a shared event into such a number. The optimizer may have
    better values."""

    snapshot: int = 250
    number: int = 140
    move: int = 60


class KleeneStateCosts(NamedTuple):
    """A shared Kleene state, by its event type, and the nanoseconds per event: for each snapshot
    if the state is shared, for all queries together if it is split."""

    type: str
    snapshot: int
    alone: int


def comparison_loop(
    query: Query, edges: Mapping[tuple[int, int], Edge], position: int
) -> tuple[str, str] | None:
    """The attributes that a position compares with itself, if several queries could share its
    events: entering the position must not depend on the event, and all lanes must be sums."""
    loop = edges.get((position, position))
    if loop is None or any(lane.fold is not Fold.SUM for lane in query.lanes):
        return None
    entered = any(q == position and p != position for p, q in edges)
    otherwise = any(p == position and edge.key != loop.key for (p, _), edge in edges.items())
    return None if entered or otherwise else (loop.key, loop.border)


def snapshot_limit(sharing: str, numbers: int) -> int:
    """The most snapshots a state can have. More than its queries have numbers never pays."""
    return MOST_SNAPSHOTS if sharing == "always" else min(MOST_SNAPSHOTS, max(2, numbers))


def chunk_sizes(limit: int) -> list[int]:
    """How many snapshots each tree of a state holds: 1, 1, 2, 4, 8, ..., so that a state with few
    snapshots has small nodes, and one with many has few trees."""
    sizes = [1]
    while sum(sizes) < limit:
        sizes.append(sum(sizes))
    return sizes


def kleene_state_costs(
    type_: str, numbers: int, width: int, differing: int, costs: KleeneCoefficients
) -> KleeneStateCosts:
    """A state of `numbers` numbers and `width` factors for each snapshot. Each key range in which
    comparisons differ needs a separate lookup."""
    lookups = 1 + differing.bit_count()
    return KleeneStateCosts(type_, costs.snapshot * width * lookups, costs.number * numbers)
