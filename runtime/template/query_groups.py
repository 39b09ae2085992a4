"""Groups queries: routing groups have the same partition attributes, share groups have Kleene
sub-patterns in common (the HAMLET paper, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runtime.language import ast as s
from runtime.language.query import Query, Semantics
from runtime.language.window import pane_of


@dataclass(frozen=True)
class RoutingGroup:
    """Queries with the same partition attributes: one split of the stream serves them all."""

    attributes: tuple[str, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True)
class ShareGroup:
    """Queries of a routing group that can share: the same semantics, the same kind of window, and
    connected by common Kleene sub-patterns."""

    attributes: tuple[str, ...]
    semantics: Semantics
    queries: tuple[Query, ...]
    kleene: tuple[SharedKleene, ...]

    @property
    def pane(self) -> int:
        """The greatest length that divides every window and every slide of the group."""
        return pane_of(query.window for query in self.queries)

    @property
    def counted(self) -> bool:
        return self.queries[0].window.counted


@dataclass(frozen=True)
class SharedKleene:
    """A Kleene sub-pattern that more than one query contains (the HAMLET paper,
    definition 4)."""

    text: str
    queries: tuple[str, ...]


def routing_groups(queries: Iterable[Query]) -> list[RoutingGroup]:
    found: dict[tuple[str, ...], list[Query]] = {}
    for query in queries:
        found.setdefault(query.partition_by, []).append(query)
    return [RoutingGroup(attributes, tuple(members)) for attributes, members in found.items()]


def share_groups(queries: Iterable[Query]) -> list[ShareGroup]:
    """Every query is in one share group, alone if it has nothing to share."""
    groups = []
    for routing in routing_groups(queries):
        alike: dict[tuple[Semantics, str], list[Query]] = {}
        for query in routing.queries:
            alike.setdefault((query.semantics, query.window.kind), []).append(query)
        for (semantics, _), members in alike.items():
            for linked in _linked(members):
                shared = shareable(linked)
                groups.append(ShareGroup(routing.attributes, semantics, tuple(linked), shared))
    return groups


def kleene_subpatterns(pattern: s.Pattern) -> tuple[str, ...]:
    """The Kleene sub-patterns of a pattern, without aliases and except those under NOT."""
    if isinstance(pattern, s.Not):
        return ()
    own: tuple[str, ...] = ()
    if isinstance(pattern, s.Plus | s.Star):
        own = (s.describe(_unwrapped(pattern.body), aliases=False) + "+",)
    inner = tuple(text for part in s.children(pattern) for text in kleene_subpatterns(part))
    return tuple(dict.fromkeys(own + inner))


def shareable(queries: Iterable[Query]) -> tuple[SharedKleene, ...]:
    holders: dict[str, list[str]] = {}
    for query in queries:
        for text in kleene_subpatterns(query.pattern):
            holders.setdefault(text, []).append(query.name)
    shared = {text: names for text, names in holders.items() if len(names) > 1}
    return tuple(SharedKleene(text, tuple(names)) for text, names in shared.items())


def _unwrapped(pattern: s.Pattern) -> s.Pattern:
    """`(A+)+` and `A*+` have the trends of `A+`: the inner operator adds nothing."""
    while isinstance(pattern, s.Plus | s.Star):
        pattern = pattern.body
    return pattern


def _linked(queries: list[Query]) -> list[list[Query]]:
    """Connected components by common Kleene sub-patterns: q1 with q2 by A+, q2 with q3 by B+."""
    groups: list[tuple[set[str], list[Query]]] = []
    for query in queries:
        parts = set(kleene_subpatterns(query.pattern))
        joined = [group for group in groups if group[0] & parts]
        merged = (parts.union(*(g[0] for g in joined)), [q for g in joined for q in g[1]] + [query])
        groups = [group for group in groups if group not in joined] + [merged]
    return [members for _, members in groups]
