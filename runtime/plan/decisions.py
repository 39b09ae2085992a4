"""What was decided: counted by event type and kind, and told by examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

KINDS = ("shared", "split", "merged", "continued")


@dataclass(frozen=True)
class BurstTiming:
    """Of the bursts whose work was timed: how many there were, and their nanoseconds."""

    bursts: int = 0
    nanoseconds: int = 0

    @property
    def mean(self) -> float | None:
        return self.nanoseconds / self.bursts if self.bursts else None


@dataclass(frozen=True)
class TypeDecisions:
    """The decisions over bursts of one type. `benefit` is the sum of what sharing was predicted
    to save, in nanoseconds; below zero where splitting was better."""

    type: str
    shared: int
    split: int
    merged: int
    continued: int
    events: int
    snapshots: int
    benefit: float
    time_shared: BurstTiming = field(default_factory=BurstTiming)
    time_split: BurstTiming = field(default_factory=BurstTiming)

    @property
    def all(self) -> int:
        return self.shared + self.split + self.merged + self.continued


@dataclass(frozen=True)
class DecisionExample:
    """One decision: the n-th over bursts of its type, by which policy, and how long the work took
    that was decided on. `snapshots` are the events that queries differed on; `expected` are the
    classes and `vectors` those of a query that the benefit was predicted with, `classes` what was
    found where the burst was shared."""

    type: str
    kind: str
    events: int
    snapshots: int
    classes: int
    queries: int
    benefit: float
    number: int
    nanoseconds: int = 0
    policy: int = 0
    conditions: int = 0
    expected: float = 1.0
    vectors: int = 0

    def told(self) -> str:
        size = f"a burst of {self.events:,} {self.type}"
        differed = (
            f"queries differed on {self.snapshots:,} of them"
            if self.snapshots
            else "all conditions agreed on them"
        )
        queries = f"{self.queries} queries"
        taken = f" and took {self.nanoseconds:,} ns" if self.nanoseconds else ""
        if self.kind == "split":
            return (
                f"{size}: {differed}, so sharing was expected to cost {queries} "
                f"{-self.benefit:,.0f} ns more: split{taken}"
            )
        classes = f" in {self.classes} classes" if self.classes > 1 else ""
        return (
            f"{size}: {differed}; sharing by {queries}{classes} was expected to save "
            f"{self.benefit:,.0f} ns: {self.kind}{taken}"
        )


@dataclass(frozen=True)
class Decisions:
    """Of one share group: the names of its queries, what was decided by type, and examples.
    `over` is what decisions are about: bursts, or single events in an ordered index."""

    queries: tuple[str, ...]
    types: tuple[TypeDecisions, ...]
    examples: tuple[DecisionExample, ...]
    over: str = "bursts"


def group_name(queries: tuple[str, ...]) -> str:
    """A query is in one group, so that its name tells groups apart."""
    more = f" +{len(queries) - 1}" if len(queries) > 1 else ""
    return f"{queries[0]}{more}"


# Of several engines, as many as of one are enough.
EXAMPLES = 16


def merged(several: Iterable[Decisions]) -> list[Decisions]:
    """What engines over other partitions of the same queries decided, as one."""
    groups: dict[tuple[tuple[str, ...], str], Decisions] = {}
    for each in several:
        known = groups.get((each.queries, each.over))
        groups[each.queries, each.over] = each if known is None else _both(known, each)
    return list(groups.values())


def less(now: Decisions, before: Decisions | None) -> Decisions:
    """What was decided since. Examples are those of types that were decided on since then."""
    if before is None:
        return now
    known = {each.type: each for each in before.types}
    types = [
        _difference(each, known[each.type]) if each.type in known else each for each in now.types
    ]
    fresh = [
        each
        for each in now.examples
        if each.type not in known or each.number > known[each.type].all
    ]
    return replace(now, types=tuple(e for e in types if e.all), examples=tuple(fresh))


def _both(one: Decisions, other: Decisions) -> Decisions:
    types = {each.type: each for each in one.types}
    for each in other.types:
        types[each.type] = _sum(types[each.type], each) if each.type in types else each
    examples = (*one.examples, *other.examples)[:EXAMPLES]
    return replace(one, types=tuple(types.values()), examples=examples)


def _sum(one: TypeDecisions, other: TypeDecisions) -> TypeDecisions:
    return _added(one, other, 1)


def _difference(one: TypeDecisions, other: TypeDecisions) -> TypeDecisions:
    return _added(one, other, -1)


def _added(one: TypeDecisions, other: TypeDecisions, sign: int) -> TypeDecisions:
    return TypeDecisions(
        one.type,
        one.shared + sign * other.shared,
        one.split + sign * other.split,
        one.merged + sign * other.merged,
        one.continued + sign * other.continued,
        one.events + sign * other.events,
        one.snapshots + sign * other.snapshots,
        one.benefit + sign * other.benefit,
        _timed(one.time_shared, other.time_shared, sign),
        _timed(one.time_split, other.time_split, sign),
    )


def _timed(one: BurstTiming, other: BurstTiming, sign: int) -> BurstTiming:
    return BurstTiming(one.bursts + sign * other.bursts, one.nanoseconds + sign * other.nanoseconds)
