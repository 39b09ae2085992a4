"""Explains in a line of text why each candidate is in a plan or not; paper's term in brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from runtime.plan.planners.sharon.candidates import Candidate, Covers, Pattern, Queries, Weight
from runtime.plan.planners.sharon.component import SolvedComponent

_NAMED = 5  # queries that a line names; the others are counted


def reasons(
    whole: Sequence[Candidate], solved: SolvedComponent, covers: Covers, weight: Weight
) -> Iterator[str]:
    """A line for each candidate, in their order."""
    groups: dict[Pattern, list[Queries]] = {}
    for pattern, queries in solved.chosen:
        groups.setdefault(pattern, []).append(queries)
    owners = _owners(solved.chosen, covers)
    for candidate in whole:
        name = f"({', '.join(candidate.pattern)})"
        if candidate.pattern in groups:
            chosen = (_chosen(candidate, queries, weight) for queries in groups[candidate.pattern])
            yield f"{name} chosen: {'; '.join(chosen)}"
        else:
            yield f"{name} dropped: {_dropped(candidate, solved, owners, covers)}"


def _chosen(candidate: Candidate, queries: Queries, weight: Weight) -> str:
    left_out = len(candidate.queries) - len(queries)
    but = f", not by {left_out} more that contain it" if left_out else ""
    return f"shared by {_named(queries)}{but}, saves {weight(candidate.pattern, queries):.6g}"


def _dropped(
    candidate: Candidate,
    solved: SolvedComponent,
    owners: Mapping[str, list[tuple[int, Pattern]]],
    covers: Covers,
) -> str:
    if candidate.pattern not in solved.paying:
        return f"sharing it by {_named(candidate.queries)} does not pay"
    winners = _winners(candidate, owners, covers)
    if not winners:
        return "sharing it does not pay for the queries that are left to it"
    pattern = max(winners, key=lambda each: len(winners[each]))
    against = f"overlaps with ({', '.join(pattern)}) in {_named(winners[pattern])}"
    others = f", and {len(winners) - 1} more chosen" if len(winners) > 1 else ""
    ridden = " [conflict-ridden]" if candidate.pattern in solved.ridden else ""
    return f"{against}{others}{ridden}"


def _owners(chosen: Iterable[Candidate], covers: Covers) -> dict[str, list[tuple[int, Pattern]]]:
    """For each query the chosen patterns that it shares, and the positions they cover."""
    owners: dict[str, list[tuple[int, Pattern]]] = {}
    for pattern, queries in chosen:
        for query in queries:
            owners.setdefault(query, []).append((covers[pattern][query], pattern))
    return owners


def _winners(
    candidate: Candidate, owners: Mapping[str, list[tuple[int, Pattern]]], covers: Covers
) -> dict[Pattern, list[str]]:
    """The chosen patterns that conflict with a candidate, and the queries in which they do."""
    winners: dict[Pattern, list[str]] = {}
    for query in candidate.queries:
        covered = covers[candidate.pattern][query]
        for owned, pattern in owners.get(query, ()):
            if owned & covered:
                winners.setdefault(pattern, []).append(query)
    return winners


def _named(queries: Sequence[str]) -> str:
    more = len(queries) - _NAMED
    return ", ".join(queries[:_NAMED]) + (f" and {more} more" if more > 0 else "")
