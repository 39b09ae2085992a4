"""Turns the plans of SHARON and GLORIA into shared parts that the engine can run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias

from runtime.errors import HamletError
from runtime.plan.operators.graphlet.shared_subpattern import MOST_PARTS, SharedSubpattern
from runtime.plan.planners.gloria import GloriaPlan, TransitionQueries
from runtime.plan.planners.shareable_set import ShareableSet
from runtime.plan.planners.sharon import SharonPlan
from runtime.plan.sharing_plan import SharedPart, Transition

Members: TypeAlias = frozenset[str]
RejectedPart: TypeAlias = tuple[SharedPart, str]


def parts_of_sharon(shareable: ShareableSet, plan: SharonPlan) -> Iterator[SharedPart]:
    for pattern, queries in plan.chosen:
        steps = [(shareable.types[one], shareable.types[other]) for one, other in pairwise(pattern)]
        yield SharedPart(tuple(sorted(queries)), tuple(steps))


def parts_of_gloria(shareable: ShareableSet, plan: GloriaPlan) -> Iterator[SharedPart]:
    """A type belongs to the set that shares the step into it; the first type of queries belongs
    to the set that shares the step out of it. Steps between types of one set are in its part."""
    shared = {
        (each.source, each.target): [_members(one) for one in each.sets if _is_shared(one)]
        for each in plan.transitions
    }
    claimed = _claims(shared)
    _release_unshared(plan, shared, claimed)
    steps_of: defaultdict[Members, list[Transition]] = defaultdict(list)
    for (source, target), sets in shared.items():
        for members in sets:
            if claimed[members] >= {source, target}:
                steps_of[members].append((shareable.types[source], shareable.types[target]))
    for members, steps in steps_of.items():
        for connected in _connected(steps):
            yield SharedPart(tuple(sorted(members)), tuple(connected))


def accept_parts(
    shareable: ShareableSet, parts: Iterable[SharedPart]
) -> tuple[tuple[SharedPart, ...], list[RejectedPart]]:
    """The parts that the engine can share, and the others with the reason. If a query would have a
    type in two parts, the first part wins."""
    claimed: set[tuple[str, str]] = set()
    accepted: list[SharedPart] = []
    rejected: list[RejectedPart] = []
    for part in parts:
        mine = {(name, type_) for name in part.queries for type_ in part.types}
        try:
            SharedSubpattern.of(
                part, [query for query in shareable.queries if query.name in part.queries]
            )
            if mine & claimed:
                raise HamletError("a query has one of its types in another part")
            if len(accepted) == MOST_PARTS:
                raise HamletError(f"there are already {MOST_PARTS} parts")
        except HamletError as error:
            rejected.append((part, str(error)))
        else:
            accepted.append(part)
            claimed |= mine
    return tuple(accepted), rejected


def _is_shared(one: TransitionQueries) -> bool:
    return one.snapshots is not None and len(one.queries) > 1


def _members(one: TransitionQueries) -> Members:
    return frozenset(one.queries)


def _claims(shared: Mapping[Transition, list[Members]]) -> dict[Members, set[str]]:
    """The types of each set; targets of its steps take precedence over sources."""
    claimed: defaultdict[Members, set[str]] = defaultdict(set)
    owners: defaultdict[str, list[Members]] = defaultdict(list)
    for (_, target), sets in shared.items():
        for members in sets:
            claimed[members].add(target)
            owners[target].append(members)
    for (source, _), sets in shared.items():
        for members in sets:
            if not any(members & owner for owner in owners[source]):
                claimed[members].add(source)
                owners[source].append(members)
    return claimed


def _release_unshared(
    plan: GloriaPlan, shared: Mapping[Transition, list[Members]], claimed: dict[Members, set[str]]
) -> None:
    """A part has all steps among its types. If queries of a set have a step that the set does not
    share, such as a loop, the set gives up the type that the step leads to."""
    for each in plan.transitions:
        users = frozenset(name for one in each.sets for name in one.queries)
        sharing = shared[each.source, each.target]
        for members, types in claimed.items():
            apart = members & users and members not in sharing
            if apart and types >= {each.source, each.target}:
                types.remove(each.target)


def _connected(steps: list[Transition]) -> Iterator[list[Transition]]:
    rest = list(steps)
    while rest:
        types, component = set(rest[0]), []
        while more := [step for step in rest if types & set(step)]:
            component += more
            types = types.union(*more)
            rest = [step for step in rest if step not in more]
        yield component
