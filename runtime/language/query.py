"""A bound query and a workload of them: immutable, without any state of a run.

Names are bound to positions, conditions are classified, and aggregates have lanes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from runtime.errors import HamletError, did_you_mean
from runtime.language import ast as s
from runtime.language.aggregates import AggregateFunction, LaneInput, ResultKind
from runtime.language.aggregates import Fold as Fold  # noqa: PLC0414 (for importers of Query)
from runtime.language.automaton import PatternTemplate
from runtime.language.splitter import SourceText
from runtime.language.window import Window as Window  # noqa: PLC0414 (for importers of Query)
from runtime.types.attribute_kinds import AttributeKind


class Semantics(Enum):
    ANY = "skip-till-any-match"
    NEXT = "skip-till-next-match"
    CONTIGUOUS = "contiguous"


@dataclass(frozen=True)
class LocalCondition:
    """A condition on one event, for all positions of its name. `expression` is its core form,
    `written` the original."""

    positions: frozenset[int]
    expression: s.Expression
    written: s.Expression = field(compare=False)


@dataclass(frozen=True)
class AdjacentCondition:
    """A condition on two adjacent events, the first at a position of `before`, the second at one of
    `after`. `NEXT(..)` attributes are those of the second. `expression` is its core form,
    `written` the original."""

    before: frozenset[int]
    after: frozenset[int]
    expression: s.Expression
    written: s.Expression = field(compare=False)

    @cached_property
    def kept(self) -> frozenset[str]:
        """The attributes of the earlier event that must be remembered."""
        found = s.walk(self.expression)
        return frozenset(a.name for a in found if isinstance(a, s.Attribute) and not a.next)


@dataclass(frozen=True)
class Lane:
    """A number besides the count of trends: the fold of `input` over the events bound to
    `positions`, in all trends."""

    fold: Fold
    positions: frozenset[int]
    input: LaneInput

    @property
    def attribute(self) -> str | None:
        return self.input.attribute


@dataclass(frozen=True)
class Measure:
    """An aggregate of a result row and its lanes (COUNT(*) has none)."""

    function: AggregateFunction
    text: str
    lanes: tuple[int, ...] = ()

    @property
    def returns_attribute(self) -> bool:
        """Whether the result is a value of the attribute, in the attribute's own type."""
        return self.function.result is ResultKind.ATTRIBUTE


@dataclass(frozen=True)
class OutputColumn:
    """A column of the result: a group attribute, or a measure (its index in `measures`)."""

    name: str
    measure: int | None = None
    group: str | None = None


@dataclass(frozen=True)
class Mention:
    """A use of an attribute: the event types, the kind, and the location."""

    attribute: str
    types: frozenset[str]
    kind: AttributeKind
    span: s.Span


@dataclass(frozen=True)
class Query:
    name: str
    pattern: s.Pattern
    template: PatternTemplate
    semantics: Semantics
    equivalence: tuple[str, ...]
    group_by: tuple[str, ...]
    local: tuple[LocalCondition, ...]
    adjacent: tuple[AdjacentCondition, ...]
    least_length: int
    lanes: tuple[Lane, ...]
    measures: tuple[Measure, ...]
    columns: tuple[OutputColumn, ...]
    having: s.Expression | None  # its core form
    window: Window
    mentions: tuple[Mention, ...]
    text: s.QueryText
    source: SourceText

    @cached_property
    def partition_by(self) -> tuple[str, ...]:
        """The attributes that split the stream, in a canonical order."""
        return tuple(sorted({*self.equivalence, *self.group_by}))

    @cached_property
    def types(self) -> frozenset[str]:
        """All event types of the pattern, including those under NOT."""
        return frozenset(p.type for p in self.template.positions)

    @property
    def conjunctive(self) -> bool:
        return self.template.sides == 2


@dataclass(frozen=True)
class Workload:
    """Queries over one stream, and the text they came from."""

    queries: tuple[Query, ...]
    source: SourceText

    def __iter__(self) -> Iterator[Query]:
        return iter(self.queries)

    def __len__(self) -> int:
        return len(self.queries)

    def __getitem__(self, name: str) -> Query:
        for query in self.queries:
            if query.name == name:
                return query
        hint = did_you_mean(name, [query.name for query in self.queries])
        raise HamletError(f"no query is called `{name}`", hint)

    def with_queries(self, added: tuple[Query, ...]) -> Workload:
        """This workload and more queries, which must be compatible with it."""
        for query in added:
            if any(known.name == query.name for known in self.queries):
                raise HamletError(f"a query called `{query.name}` already exists")
            for mention in query.mentions:
                known_kind = self.uses.get(mention.attribute, AttributeKind.ANY)
                if (
                    AttributeKind.ANY not in (known_kind, mention.kind)
                    and known_kind is not mention.kind
                ):
                    message = (
                        f"`{mention.attribute}` is used as {mention.kind.value} here, "
                        f"as {known_kind.value} by existing queries"
                    )
                    raise query.source.error(message, mention.span)
        return replace(self, queries=(*self.queries, *added))

    def without_query(self, name: str) -> Workload:
        gone = self[name]
        return replace(self, queries=tuple(q for q in self.queries if q is not gone))

    @cached_property
    def keys(self) -> Mapping[str, frozenset[str]]:
        """The attributes that split the stream for some query, with the types of such queries."""
        found: dict[str, frozenset[str]] = {}
        for query in self.queries:
            for name in query.partition_by:
                found[name] = found.get(name, frozenset()) | query.types
        return found

    @cached_property
    def uses(self) -> Mapping[str, AttributeKind]:
        """How each attribute is used. A key alone does not determine a kind."""
        kinds: dict[str, AttributeKind] = {}
        for query in self.queries:
            for mention in query.mentions:
                if kinds.get(mention.attribute, AttributeKind.ANY) is AttributeKind.ANY:
                    kinds[mention.attribute] = mention.kind
        return dict(sorted(kinds.items()))
