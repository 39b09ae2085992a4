"""What share groups decided, added up so that no count ever goes back.

Groups come and go with queries and plans. What one counted that is over goes on as `(former)`, and
groups with a type beyond a limit are `(other)` from the start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TypeAlias

from runtime.metrics.snapshot import FORMER, OTHER, GroupFacts
from runtime.plan.decisions import Decisions, TypeDecisions, group_name, merged

# So many groups with a type have names of their own.
NAMED = 200

#: The queries of a group, and what it decides about.
Key: TypeAlias = tuple[tuple[str, ...], str]


class _Counted:
    """Of a group and a type. `carried` are the values of snapshots, by level: as many as there
    were queries when they were made."""

    def __init__(self) -> None:
        self.decided: TypeDecisions | None = None
        self.carried = (0, 0)

    def add(self, decided: TypeDecisions, carried: tuple[int, int]) -> None:
        self.decided = decided if self.decided is None else _sum(self.decided, decided)
        self.carried = (self.carried[0] + carried[0], self.carried[1] + carried[1])


class Groups:
    def __init__(self) -> None:
        self._decided: dict[Key, Decisions] = {}
        self._group_of: dict[str, Key] = {}
        self._named: dict[Key, dict[str, _Counted]] = {}
        self._beside = {OTHER: _Counted(), FORMER: _Counted()}
        self._of_former: list[Decisions] = []

    def decided(self, decided: Decisions) -> None:
        """A query shares in one group at a time: where it turns up in another, that one is over."""
        key = (decided.queries, decided.over)
        if key not in self._decided:
            over = [self._group_of[name] for name in decided.queries if name in self._group_of]
            for other in dict.fromkeys(over):
                self._retire(other)
            self._group_of.update(dict.fromkeys(decided.queries, key))
        known = [self._decided[key]] if key in self._decided else []
        self._decided[key] = replace(merged([*known, decided])[0], examples=())
        for each in decided.types:
            self._count(key, each)

    def running(self, queries: Collection[str]) -> None:
        """Groups with a query that is gone are over."""
        for key in [key for key in self._decided if not set(key[0]) <= set(queries)]:
            self._retire(key)

    def _count(self, key: Key, each: TypeDecisions) -> None:
        shared = each.all - each.split
        carried = (shared * len(key[0]), each.snapshots * len(key[0]))
        self._counted(key, each.type).add(each, carried)

    def _counted(self, key: Key, type_: str) -> _Counted:
        named = self._named.setdefault(key, {})
        if type_ not in named:
            if sum(map(len, self._named.values())) >= NAMED:
                return self._beside[OTHER]
            named[type_] = _Counted()
        return named[type_]

    def _retire(self, key: Key) -> None:
        for name in key[0]:
            del self._group_of[name]
        gone = replace(self._decided.pop(key), queries=())
        self._of_former = merged([*self._of_former, gone])
        for each in self._named.pop(key, {}).values():
            if each.decided is not None:
                self._beside[FORMER].add(each.decided, each.carried)

    @property
    def decisions(self) -> list[Decisions]:
        """All that was decided, by share group; those that are over come last."""
        return [*self._decided.values(), *self._of_former]

    def facts(self) -> Iterator[GroupFacts]:
        for key, counted in self._named.items():
            if counted:
                yield _facts(group_name(key[0]), key, counted)
        for name, each in self._beside.items():
            if each.decided is not None:
                yield _facts(name, ((), "bursts"), {OTHER: each})


def _facts(name: str, key: Key, counted: dict[str, _Counted]) -> GroupFacts:
    types = {
        type_: replace(each.decided, type=type_)
        for type_, each in counted.items()
        if each.decided is not None
    }
    carried = {type_: counted[type_].carried for type_ in types}
    return GroupFacts(name, key[0], key[1], tuple(types.values()), carried)


def _sum(one: TypeDecisions, other: TypeDecisions) -> TypeDecisions:
    both = [Decisions((), (replace(each, type=""),), ()) for each in (one, other)]
    return replace(merged(both)[0].types[0], type=one.type)
