"""Shared sub-patterns of several types: finds them in the queries' patterns or says why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runtime.errors import HamletError
from runtime.language.query import Lane, Query
from runtime.plan.operators.graphlet.eligibility import condition_of, supports
from runtime.plan.operators.graphlet.row_width import mins_of, sums_of
from runtime.plan.sharing_plan import SharedPart, SharingPlan, Transition

MOST_PARTS = 32  # a row has a flag for each


@dataclass(frozen=True)
class SharedSubpattern:
    """The shared sub-automaton: a state for each type, and the states at which queries enter it.
    Lanes are those of its queries, with indexes of types as positions."""

    queries: tuple[str, ...]
    types: tuple[str, ...]
    transitions: frozenset[Transition]
    entered: tuple[int, ...]
    sums: tuple[Lane, ...]
    mins: tuple[Lane, ...]

    @classmethod
    def of(cls, shared: SharedPart, queries: Sequence[Query]) -> SharedSubpattern:
        """`queries` are those of the part. Raises if they cannot share it."""
        types = shared.types
        for query in queries:
            _check(shared, query)
        for type_ in types:
            conditions = {condition_of(query, _position(query, type_)) for query in queries}
            if len(conditions) > 1:
                raise HamletError(f"the queries cannot share {shared}: {type_} conditions differ")
        entered = tuple(
            place
            for place, type_ in enumerate(types)
            if any(_enters(q, types, type_) for q in queries)
        )
        requested = shared.snapshots
        entry_types = {types[place] for place in entered}
        if requested is not None and set(requested) != entry_types:
            raise HamletError(
                f"queries enter {shared} at {_listed(entry_types)}, so their snapshots are taken "
                f"there, not at {_listed(requested)}"
            )
        names = tuple(query.name for query in queries)
        sums = dict.fromkeys(_lane(q, types, lane) for q in queries for lane in sums_of(q))
        mins = dict.fromkeys(_lane(q, types, lane) for q in queries for lane in mins_of(q))
        return cls(
            names,
            types,
            frozenset(shared.transitions),
            entered,
            tuple(lane for lane in sums if lane.positions),
            tuple(lane for lane in mins if lane.positions),
        )

    def positions(self, query: Query) -> list[int]:
        """The positions of the part's states in a query's pattern."""
        return [_position(query, type_) for type_ in self.types]

    def lane(self, query: Query, lane: Lane) -> int:
        """The part's lane that feeds a query's lane, or -1."""
        mine = _lane(query, self.types, lane)
        lanes = self.sums if mine in self.sums else self.mins
        return lanes.index(mine) if mine.positions else -1


def check_plan(plan: SharingPlan, queries: Sequence[Query]) -> None:
    """Rejects a plan that these queries cannot follow, with the reason."""
    plan.check(queries)
    for query in queries:
        if plan.granularity.get(query.name) == "type" and not supports(query):
            raise HamletError(
                f"`{query.name}` cannot be evaluated by whole bursts, as the plan says",
                "`hamlet explain` shows what prevents it",
            )
    for group in (*plan.groups, *(part.queries for part in plan.shared)):
        members = [query for query in queries if query.name in group]
        if len({(q.partition_by, q.window.kind) for q in members}) > 1:
            raise HamletError(
                f"the plan lets {_listed(group)} share, but their partitions or windows are of "
                "different kinds"
            )
    subpatterns_of(plan.shared, queries)


def subpatterns_of(
    shared_parts: Iterable[SharedPart], queries: Sequence[Query]
) -> tuple[SharedSubpattern, ...]:
    """The parts that these queries share, at least two of them each."""
    parts: list[SharedSubpattern] = []
    claimed: set[tuple[str, str]] = set()
    for shared in shared_parts:
        mine = [query for query in queries if query.name in shared.queries]
        if len(mine) < 2:
            continue
        part = SharedSubpattern.of(shared, mine)
        for query in mine:
            for type_ in part.types:
                if (query.name, type_) in claimed:
                    raise HamletError(f"the plan shares {type_} of `{query.name}` in two parts")
                claimed.add((query.name, type_))
        parts.append(part)
    if len(parts) > MOST_PARTS:
        raise HamletError(f"the plan has {len(parts)} shared parts; the limit is {MOST_PARTS}")
    return tuple(parts)


def _check(shared: SharedPart, query: Query) -> None:
    if not supports(query):
        raise HamletError(
            f"`{query.name}` cannot share {shared}: the graphlet operator does not support it",
            "`hamlet explain` shows what prevents sharing",
        )
    types = shared.types
    held = [p.type for p in query.template.positions]
    for type_ in types:
        times = held.count(type_)
        if times != 1:
            raise HamletError(
                f"`{query.name}` cannot share {shared}: it has {type_} {times} times, not once"
            )
    inside = {
        (held[p], held[q])
        for p, q in query.template.automaton.edges
        if held[p] in types and held[q] in types
    }
    wrong = inside ^ set(shared.transitions)
    if wrong:
        one, other = min(wrong)
        has = "has" if (one, other) in inside else "has not"
        raise HamletError(
            f"`{query.name}` cannot share {shared}: its pattern {has} the step {one} to {other}"
        )


def _enters(query: Query, types: tuple[str, ...], type_: str) -> bool:
    """Whether a query can reach a type's state from outside the part."""
    position = _position(query, type_)
    automaton = query.template.automaton
    held = query.template.positions
    before = [p for p, q in automaton.edges if q == position]
    return position in automaton.first or any(held[p].type not in types for p in before)


def _position(query: Query, type_: str) -> int:
    return next(p.index for p in query.template.positions if p.type == type_)


def _lane(query: Query, types: tuple[str, ...], lane: Lane) -> Lane:
    places = [n for n, type_ in enumerate(types) if _position(query, type_) in lane.positions]
    return Lane(lane.fold, frozenset(places), lane.input)


def _listed(types: Iterable[str]) -> str:
    return " and ".join(sorted(types))


def adjoins(query: Query, type_: str, part: SharedSubpattern) -> bool:
    """Whether a step leads from a state of the type into the part, or from the part into one."""
    inside = set(part.positions(query))
    states = {p.index for p in query.template.positions if p.type == type_}
    edges = query.template.automaton.edges
    return any((p in states and q in inside) or (p in inside and q in states) for p, q in edges)
