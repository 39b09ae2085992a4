"""Adds up the decisions of share groups, so that no counter ever decreases.

Groups change with queries and plans. The counts of a group that no longer exists are added to the
group `(former)`; groups beyond a limit are counted as `(other)` from the start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TypeAlias

from runtime.metrics.snapshot import FORMER, OTHER, ShareGroupMetrics
from runtime.plan.decisions import Decisions, TypeDecisions, group_name, merge_decisions

# How many pairs of a group and a Kleene type have series of their own.
NAMED = 200

#: The queries of a group, and what its decisions are about.
Key: TypeAlias = tuple[tuple[str, ...], str]


class _TypeTotals:
    """The counts of a group and a Kleene type. `carried` are the propagated snapshot values, of
    graphlets and of events: one for each query of the group."""

    def __init__(self) -> None:
        self.decided: TypeDecisions | None = None
        self.carried = (0, 0)

    def add(self, decided: TypeDecisions, carried: tuple[int, int]) -> None:
        self.decided = decided if self.decided is None else _sum(self.decided, decided)
        self.carried = (self.carried[0] + carried[0], self.carried[1] + carried[1])


class SharingTotals:
    def __init__(self) -> None:
        self._decided: dict[Key, Decisions] = {}
        self._group_of: dict[str, Key] = {}
        self._named: dict[Key, dict[str, _TypeTotals]] = {}
        self._unnamed = {OTHER: _TypeTotals(), FORMER: _TypeTotals()}
        self._former: list[Decisions] = []

    def add(self, decided: Decisions) -> None:
        """A query is in one group at a time: if it is in a new one, its old group is gone."""
        key = (decided.queries, decided.over)
        if key not in self._decided:
            gone = [self._group_of[name] for name in decided.queries if name in self._group_of]
            for other in dict.fromkeys(gone):
                self._retire(other)
            self._group_of.update(dict.fromkeys(decided.queries, key))
        known = [self._decided[key]] if key in self._decided else []
        self._decided[key] = merge_decisions([*known, decided])[0]
        for each in decided.types:
            self._count(key, each)

    def set_queries(self, queries: Collection[str]) -> None:
        """A group with a removed query is gone."""
        for key in [key for key in self._decided if not set(key[0]) <= set(queries)]:
            self._retire(key)

    def _count(self, key: Key, each: TypeDecisions) -> None:
        shared = each.all - each.split
        carried = (shared * len(key[0]), each.snapshots * len(key[0]))
        self._totals(key, each.type).add(each, carried)

    def _totals(self, key: Key, type_: str) -> _TypeTotals:
        named = self._named.setdefault(key, {})
        if type_ not in named:
            if sum(map(len, self._named.values())) >= NAMED:
                return self._unnamed[OTHER]
            named[type_] = _TypeTotals()
        return named[type_]

    def _retire(self, key: Key) -> None:
        for name in key[0]:
            del self._group_of[name]
        gone = replace(self._decided.pop(key), queries=())
        self._former = merge_decisions([*self._former, gone])
        for each in self._named.pop(key, {}).values():
            if each.decided is not None:
                self._unnamed[FORMER].add(each.decided, each.carried)

    @property
    def decisions(self) -> list[Decisions]:
        """All decisions by share group; those of former groups come last."""
        return [*self._decided.values(), *self._former]

    def metrics(self) -> Iterator[ShareGroupMetrics]:
        for key, counted in self._named.items():
            if counted:
                yield _group_metrics(group_name(key[0]), key, counted)
        for name, each in self._unnamed.items():
            if each.decided is not None:
                yield _group_metrics(name, ((), "bursts"), {OTHER: each})


def _group_metrics(name: str, key: Key, counted: dict[str, _TypeTotals]) -> ShareGroupMetrics:
    types = {
        type_: replace(each.decided, type=type_)
        for type_, each in counted.items()
        if each.decided is not None
    }
    carried = {type_: counted[type_].carried for type_ in types}
    return ShareGroupMetrics(name, key[0], key[1], tuple(types.values()), carried)


def _sum(one: TypeDecisions, other: TypeDecisions) -> TypeDecisions:
    both = [Decisions((), (replace(each, type=""),), ()) for each in (one, other)]
    return replace(merge_decisions(both)[0].types[0], type=one.type)
