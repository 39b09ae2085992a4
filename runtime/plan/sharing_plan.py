"""The static plan: what may be shared at all, above the decisions that are made burst by burst.

A plan is a value. Planners make one, a person can write one, and the engine honours it: results do
not depend on it. What a plan does not mention is left to the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

from runtime.errors import HamletError, did_you_mean
from runtime.language.query import Query

Transition: TypeAlias = tuple[str, str]

WINDOWS = ("auto", "vectors", "panes")  #: how overlapping windows are kept
GRANULARITY = ("type", "event")


@dataclass(frozen=True)
class SharedPart:
    """Transitions between event types that some queries share as one operator, such as P to T and
    T to P of `SEQ(P, T)+`, or A to B and B to C of `SEQ(A, B, C)`.

    `snapshots` are the types at which queries enter the part: there each of them brings a value
    of its own. None: those at which the patterns say so."""

    queries: tuple[str, ...]
    transitions: tuple[Transition, ...]
    snapshots: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Lists will do, too."""
        _set(self, "queries", _names(self.queries, "queries"))
        given = _list(self.transitions, "transitions")
        _set(self, "transitions", tuple(_pair(each) for each in given))
        if self.snapshots is not None:
            _set(self, "snapshots", _names(self.snapshots, "snapshots"))
        if len(set(self.queries)) < 2:
            raise HamletError("a shared part of the plan is shared by two queries at least")
        if not self.transitions:
            raise HamletError("a shared part of the plan has no transitions")

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted({type_ for transition in self.transitions for type_ in transition}))

    def __str__(self) -> str:
        return ", ".join(f"{one} to {other}" for one, other in self.transitions)


@dataclass(frozen=True)
class QuerySet:
    """Queries that share a transition of the merged template: their states lie side by side, and
    one pass over the events steps them all. `snapshots` is the type whose events bring each of
    them a value of its own."""

    source: str
    target: str
    queries: tuple[str, ...]
    snapshots: str

    def __post_init__(self) -> None:
        _set(self, "queries", _names(self.queries, "queries"))
        if len(set(self.queries)) < 2:
            raise HamletError(f"{self} is shared by two queries at least")

    def __str__(self) -> str:
        return f"the transition from {self.source} to {self.target}"


@dataclass(frozen=True)
class SharingPlan:
    """`groups` are queries that share bursts and keep their states together; a query that is named
    in none shares with whom it can. `transitions` are shared by queries of one group, `shared` are
    longer parts that are one operator. `granularity` is "type" (whole bursts) or "event" (one by
    one, by itself) for a query. `windows` is how overlapping windows are kept: "vectors" (each its
    own), "panes" (one operator for all of them), or "auto", pane by pane; for all queries, or for
    the groups of those that are named."""

    version: int = 0
    shared: tuple[SharedPart, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    granularity: Mapping[str, str] = field(default_factory=dict)
    windows: str | Mapping[str, str] = "auto"
    transitions: tuple[QuerySet, ...] = ()

    def __post_init__(self) -> None:
        _set(self, "shared", tuple(_list(self.shared, "shared")))
        _set(self, "groups", tuple(_names(g, "groups") for g in _list(self.groups, "groups")))
        _set(self, "granularity", dict(_mapping(self.granularity, "granularity")))
        if not isinstance(self.version, int):
            raise HamletError(f"the plan's version is {self.version!r}, but must be a whole number")
        if not all(isinstance(part, SharedPart) for part in self.shared):
            raise HamletError("`shared` of the plan must be a list of shared parts")
        _set(self, "transitions", tuple(_list(self.transitions, "transitions")))
        if not all(isinstance(each, QuerySet) for each in self.transitions):
            raise HamletError("`transitions` of the plan must be a list of query sets")
        self._check_windows()
        for name, value in self.granularity.items():
            _choice(f"the granularity of `{name}`", value, GRANULARITY)

    def _check_windows(self) -> None:
        if isinstance(self.windows, str):
            _choice("windows", self.windows, WINDOWS)
            return
        _set(self, "windows", dict(_mapping(self.windows, "windows")))
        for name, value in self.windows.items():
            _choice(f"the windows of `{name}`", value, WINDOWS)

    def windows_of(self, names: Iterable[str]) -> str:
        """How a group keeps its overlapping windows."""
        if isinstance(self.windows, str):
            return self.windows
        return next((self.windows[name] for name in names if name in self.windows), "auto")

    @classmethod
    def read(cls, data: object) -> SharingPlan:
        """From what a YAML or JSON file holds."""
        known = [f.name for f in fields(cls)]
        given = dict(_mapping({} if data is None else data, "a plan", known))
        given["shared"] = [_part(each) for each in _list(given.get("shared", []), "shared")]
        sets = _list(given.get("transitions", []), "transitions")
        given["transitions"] = [_query_set(each) for each in sets]
        return cls(**given)

    def check(self, queries: Sequence[Query]) -> None:
        """Refuses names that the workload does not have, and what contradicts itself."""
        names = [query.name for query in queries]
        grouped = [name for group in self.groups for name in group]
        mentioned = [name for part in self.sharing for name in part.queries]
        kept = () if isinstance(self.windows, str) else tuple(self.windows)
        for name in dict.fromkeys((*grouped, *mentioned, *self.granularity, *kept)):
            if name not in names:
                raise HamletError(
                    f"the plan names `{name}`, which is no query", did_you_mean(name, names)
                )
        twice = [name for name, count in Counter(grouped).items() if count > 1]
        if twice:
            raise HamletError(f"the plan has `{twice[0]}` in two groups")
        for part in self.sharing:
            self._check_part(part)

    @property
    def sharing(self) -> tuple[SharedPart | QuerySet, ...]:
        """What some queries have together."""
        return (*self.shared, *self.transitions)

    def _check_part(self, part: SharedPart | QuerySet) -> None:
        for name in part.queries:
            if self.granularity.get(name) == "event":
                raise HamletError(
                    f"the plan evaluates `{name}` event by event, so it cannot share {part}"
                )
        for group in map(set, self.groups):
            inside = [name for name in part.queries if name in group]
            if inside and len(inside) < len(part.queries):
                other = next(name for name in part.queries if name not in group)
                raise HamletError(
                    f"the plan lets `{inside[0]}` share {part} with `{other}`, which is not in its "
                    "group"
                )

    def among(self, queries: Iterable[Query]) -> SharingPlan:
        """What the plan says of these queries."""
        here = {query.name for query in queries}
        named = {name for part in self.sharing for name in part.queries}
        kept = () if isinstance(self.windows, str) else self.windows
        found = self
        for name in named.union(*self.groups, self.granularity, kept) - here:
            found = found.without(name)
        return found

    def without(self, name: str) -> SharingPlan:
        """What is left of the plan without a query."""
        return SharingPlan(
            self.version,
            tuple(
                SharedPart(rest, part.transitions, part.snapshots)
                for part in self.shared
                if len(rest := tuple(q for q in part.queries if q != name)) > 1
            ),
            tuple(
                rest
                for group in self.groups
                if (rest := tuple(each for each in group if each != name))
            ),
            {query: value for query, value in self.granularity.items() if query != name},
            self.windows
            if isinstance(self.windows, str)
            else {query: value for query, value in self.windows.items() if query != name},
            tuple(
                replace(each, queries=rest)
                for each in self.transitions
                if len(rest := tuple(q for q in each.queries if q != name)) > 1
            ),
        )


def _part(data: object) -> SharedPart:
    given = _mapping(data, "a shared part", [f.name for f in fields(SharedPart)])
    missing = [name for name in ("queries", "transitions") if name not in given]
    if missing:
        raise HamletError(f"a shared part of the plan has no `{missing[0]}`")
    return SharedPart(**given)


def _query_set(data: object) -> QuerySet:
    known = [f.name for f in fields(QuerySet)]
    given = _mapping(data, "a shared transition", known)
    missing = [name for name in known if name not in given]
    if missing:
        raise HamletError(f"a shared transition of the plan has no `{missing[0]}`")
    return QuerySet(**given)


def _pair(data: object) -> Transition:
    pair = _names(data, "transitions")
    if len(pair) != 2:
        raise HamletError(
            f"the transition {data!r} is not a pair", "write [P, T] for the step from P to T"
        )
    return pair[0], pair[1]


def _set(value: object, name: str, to: object) -> None:
    """Of a frozen value, while it is made."""
    object.__setattr__(value, name, to)


def _mapping(data: object, what: str, known: Sequence[str] | None = None) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise HamletError(f"{what} of the plan must be a mapping, but is {data!r}")
    for name in data:
        if known is not None and name not in known:
            raise HamletError(f"{what} has no `{name}`", did_you_mean(str(name), known))
    return data


def _list(data: object, what: str) -> list[Any]:
    if not isinstance(data, list | tuple):
        raise HamletError(f"`{what}` of the plan must be a list, but is {data!r}")
    return list(data)


def _names(data: object, what: str) -> tuple[str, ...]:
    return tuple(str(name) for name in _list(data, what))


def _choice(what: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise HamletError(f"{what} is {value!r}, but must be one of {', '.join(choices)}")
