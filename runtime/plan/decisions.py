"""Sharing decisions: their counts by event type and kind, and examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

KINDS = ("shared", "split", "merged", "continued")


@dataclass(frozen=True)
class BurstTiming:
    """The number of bursts whose work was timed, and their nanoseconds."""

    bursts: int = 0
    nanoseconds: int = 0

    @property
    def mean(self) -> float | None:
        return self.nanoseconds / self.bursts if self.bursts else None


@dataclass(frozen=True)
class TypeDecisions:
    """The decisions about bursts of one type. `benefit` is the sum of the nanoseconds that sharing
    was predicted to save; negative if splitting was better."""

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
    """One decision: `number` is its index among bursts of its type, `policy` the version that
    made it, `nanoseconds` the time of the work that followed. `snapshots` are the events that
    queries differed on. The benefit was predicted with `expected` classes and `vectors` vectors of
    a query; `classes` is the actual number if the burst was shared."""

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

    def describe(self) -> str:
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
    """The decisions of one share group by type, with examples. `over` is their subject: bursts,
    or single events in an ordered index."""

    queries: tuple[str, ...]
    types: tuple[TypeDecisions, ...]
    examples: tuple[DecisionExample, ...]
    over: str = "bursts"


def group_name(queries: tuple[str, ...]) -> str:
    """A query is in one group only, so the name of its first query identifies a group."""
    more = f" +{len(queries) - 1}" if len(queries) > 1 else ""
    return f"{queries[0]}{more}"


# Merged decisions keep as many examples as one engine reports.
EXAMPLES = 16


def merge_decisions(several: Iterable[Decisions]) -> list[Decisions]:
    """Merges the decisions of engines that run the same queries over other partitions."""
    groups: dict[tuple[tuple[str, ...], str], Decisions] = {}
    for each in several:
        before = groups.get((each.queries, each.over))
        groups[each.queries, each.over] = each if before is None else _merge_two(before, each)
    return list(groups.values())


def decisions_since(now: Decisions, before: Decisions | None) -> Decisions:
    """The decisions made since `before`, with the examples among them."""
    if before is None:
        return now
    old = {each.type: each for each in before.types}
    types = [_difference(each, old[each.type]) if each.type in old else each for each in now.types]
    fresh = [
        each for each in now.examples if each.type not in old or each.number > old[each.type].all
    ]
    return replace(now, types=tuple(e for e in types if e.all), examples=tuple(fresh))


def _merge_two(one: Decisions, other: Decisions) -> Decisions:
    types = {each.type: each for each in one.types}
    for each in other.types:
        types[each.type] = _sum(types[each.type], each) if each.type in types else each
    examples = (*one.examples, *other.examples)[:EXAMPLES]
    return replace(one, types=tuple(types.values()), examples=examples)


def _sum(one: TypeDecisions, other: TypeDecisions) -> TypeDecisions:
    return _add(one, other, 1)


def _difference(one: TypeDecisions, other: TypeDecisions) -> TypeDecisions:
    return _add(one, other, -1)


def _add(one: TypeDecisions, other: TypeDecisions, sign: int) -> TypeDecisions:
    return TypeDecisions(
        one.type,
        one.shared + sign * other.shared,
        one.split + sign * other.split,
        one.merged + sign * other.merged,
        one.continued + sign * other.continued,
        one.events + sign * other.events,
        one.snapshots + sign * other.snapshots,
        one.benefit + sign * other.benefit,
        _add_times(one.time_shared, other.time_shared, sign),
        _add_times(one.time_split, other.time_split, sign),
    )


def _add_times(one: BurstTiming, other: BurstTiming, sign: int) -> BurstTiming:
    return BurstTiming(one.bursts + sign * other.bursts, one.nanoseconds + sign * other.nanoseconds)
