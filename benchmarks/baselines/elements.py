"""A pattern as a sequence of event types, some of them repeated: what systems without nested
Kleene can express."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.baselines.decoded import Decoded
from benchmarks.baselines.system import Unsupported
from runtime.language import ast as s
from runtime.language.query import Query, Semantics
from runtime.plan.operators.graphlet.eligibility import condition_of


@dataclass(frozen=True)
class Element:
    """A type, and how often it comes. Its place in the sequence is the state of its events."""

    label: str  #: the type and the condition on it, by which events of several queries are the same
    least: int = 1
    repeated: bool = False

    @property
    def plain(self) -> bool:
        return self.least == 1 and not self.repeated


def elements(query: Query, system: str) -> tuple[Element, ...]:
    """Raises `Unsupported`."""
    if query.semantics is not Semantics.ANY:
        raise Unsupported(f"query `{query.name}`: {system} has skip-till-any-match only")
    if query.adjacent:
        raise Unsupported(f"query `{query.name}`: {system} has no adjacent conditions")
    labels = [_label(query, position.index) for position in query.template.positions]
    found = list(_elements(query, query.pattern, iter(labels), system))
    assert len(found) == len(labels)
    return tuple(found)


def _elements(
    query: Query, pattern: s.Pattern, labels: Iterator[str], system: str
) -> Iterator[Element]:
    match pattern:
        case s.Seq(parts):
            for part in parts:
                yield from _elements(query, part, labels, system)
        case s.Event():
            yield Element(next(labels))
        case s.Plus(s.Event()):
            yield Element(next(labels), repeated=True)
        case s.Star(s.Event()):
            yield Element(next(labels), least=0, repeated=True)
        case s.Maybe(s.Event()):
            yield Element(next(labels), least=0)
        case s.Either():
            raise Unsupported(f"query `{query.name}`: {system} has no `P | Q`")
        case _:
            raise Unsupported(
                f"query `{query.name}`: {system} repeats single types, no longer patterns"
            )


def _label(query: Query, position: int) -> str:
    conditions = sorted(repr(each) for each in condition_of(query, position))
    return "\n".join((query.template.positions[position].type, *conditions))


def together(queries: Iterable[Decoded]) -> list[list[Decoded]]:
    """Those with the same slices: the same partitions and windows."""
    found: dict[tuple[tuple[str, ...], int, int], list[Decoded]] = {}
    for each in queries:
        window = each.query.window
        key = (each.query.partition_by, window.within, window.slide)
        found.setdefault(key, []).append(each)
    return list(found.values())
