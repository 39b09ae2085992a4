"""The static sharing plan: what queries may share, above the decisions for each burst.

A plan is a value. A planner makes it or a person writes it, and the engine follows it; results do
not depend on it. The engine decides whatever the plan does not mention.
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

    `snapshots` are the types at which queries enter the part, each with a value of its own.
    None: derive them from the patterns."""

    queries: tuple[str, ...]
    transitions: tuple[Transition, ...]
    snapshots: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Accepts lists, too."""
        _set(self, "queries", _names(self.queries, "queries"))
        given = _list(self.transitions, "transitions")
        _set(self, "transitions", tuple(_pair(each) for each in given))
        if self.snapshots is not None:
            _set(self, "snapshots", _names(self.snapshots, "snapshots"))
        if len(set(self.queries)) < 2:
            raise HamletError("a shared part of the plan needs at least two queries")
        if not self.transitions:
            raise HamletError("a shared part of the plan has no transitions")

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted({type_ for transition in self.transitions for type_ in transition}))

    def __str__(self) -> str:
        return ", ".join(f"{one} to {other}" for one, other in self.transitions)


@dataclass(frozen=True)
class QuerySet:
    """Queries that share a transition of the merged template: their states are contiguous, and
    one pass over the events updates them all. `snapshots` is the type whose events give each
    query a value of its own."""

    source: str
    target: str
    queries: tuple[str, ...]
    snapshots: str

    def __post_init__(self) -> None:
        _set(self, "queries", _names(self.queries, "queries"))
        if len(set(self.queries)) < 2:
            raise HamletError(f"{self} needs at least two queries")

    def __str__(self) -> str:
        return f"the transition from {self.source} to {self.target}"


@dataclass(frozen=True)
class SharingPlan:
    """`groups` are queries that share bursts and keep their states together; a query in no group
    shares with any query it can. Queries of one group share `transitions`; `shared` are
    sub-patterns of several transitions that run as one operator. `granularity` of a query is
    "type" (whole bursts) or "event" (event by event, sharing nothing). `windows` says how
    overlapping windows are kept: "vectors" (one per window), "panes" (one operator for all of
    them) or "auto" (decided for each pane); one value for all queries, or a value for the groups
    of the named queries."""

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
        """Reads the content of a YAML or JSON file."""
        names = [f.name for f in fields(cls)]
        given = dict(_mapping({} if data is None else data, "a plan", names))
        given["shared"] = [_part(each) for each in _list(given.get("shared", []), "shared")]
        sets = _list(given.get("transitions", []), "transitions")
        given["transitions"] = [_query_set(each) for each in sets]
        return cls(**given)

    def check(self, queries: Sequence[Query]) -> None:
        """Rejects names that the workload does not have, and contradictions."""
        names = [query.name for query in queries]
        grouped = [name for group in self.groups for name in group]
        mentioned = [name for part in self.sharing for name in part.queries]
        kept = () if isinstance(self.windows, str) else tuple(self.windows)
        for name in dict.fromkeys((*grouped, *mentioned, *self.granularity, *kept)):
            if name not in names:
                raise HamletError(
                    f"the plan names `{name}`, which is not a query", did_you_mean(name, names)
                )
        twice = [name for name, count in Counter(grouped).items() if count > 1]
        if twice:
            raise HamletError(f"the plan has `{twice[0]}` in two groups")
        for part in self.sharing:
            self._check_part(part)

    @property
    def sharing(self) -> tuple[SharedPart | QuerySet, ...]:
        """Everything that some queries share: sub-patterns and transitions."""
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

    def restricted_to(self, queries: Iterable[Query]) -> SharingPlan:
        """The plan for these queries alone."""
        here = {query.name for query in queries}
        named = {name for part in self.sharing for name in part.queries}
        windowed = () if isinstance(self.windows, str) else self.windows
        plan = self
        for name in named.union(*self.groups, self.granularity, windowed) - here:
            plan = plan.without(name)
        return plan

    def without(self, name: str) -> SharingPlan:
        """The plan without one query."""
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
    """Sets an attribute of a frozen value during `__post_init__`."""
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
