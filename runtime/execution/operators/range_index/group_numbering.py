"""Numbers the blocks, totals and stores of the queries of a share group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

import pyarrow as pa

from runtime.language import ast as s
from runtime.language.aggregates import LaneInput
from runtime.language.canonical import canonical
from runtime.language.query import Fold, Query
from runtime.plan.operators.range_index.comparison_edges import Edge, edges_of
from runtime.plan.operators.range_index.kleene_sharing import comparison_loop

Class: TypeAlias = tuple[str, frozenset[s.Expression]]
Column = TypeVar("Column")


@dataclass(frozen=True)
class QueryPosition:
    """A position of a query, by the number of the query. Position -1 stands for its results."""

    query: int
    position: int


@dataclass
class EventBlock:
    """Positions that the same events match, and where their numbers are in the block's vector."""

    places: list[QueryPosition]
    class_: int
    type: str
    kleene: tuple[str, str] | None
    numbers: dict[tuple[QueryPosition, int], int] = field(default_factory=dict)
    folds: dict[tuple[QueryPosition, int], int] = field(default_factory=dict)


class ColumnNumbers(Generic[Column]):
    """Numbers columns in order of first use."""

    def __init__(self) -> None:
        self.known: dict[Column, int] = {}

    def __call__(self, name: Column | None) -> int:
        return -1 if name is None else self.known.setdefault(name, len(self.known))


class GroupNumbering:
    """The blocks, totals and stores of queries with the same windows. Sums and extremes (folds)
    are numbered separately."""

    def __init__(
        self, queries: Sequence[Query], types: Mapping[str, pa.DataType], sharing: str
    ) -> None:
        self.queries = queries
        self.edges = [edges_of(query, types) for query in queries]
        self.sharing = sharing
        self.orders, self.values = ColumnNumbers[str](), ColumnNumbers[LaneInput]()
        self.totals: dict[tuple[QueryPosition, int], int] = {}
        self.total_folds: dict[tuple[QueryPosition, int], int] = {}
        self.results = self._results()
        self.classes: dict[Class, int] = {}
        self.blocks = self._blocks()
        self.block_of = {p: b for b, block in enumerate(self.blocks) for p in block.places}
        for block in self.blocks:
            self._number(block)
        self.stores: dict[tuple[int, str], int] = {}
        self.store_numbers: list[dict[tuple[QueryPosition, int], int]] = []
        self.store_fold_numbers: list[dict[tuple[QueryPosition, int], int]] = []
        self._number_stores()
        self.kleenes = [b for b, block in enumerate(self.blocks) if block.kleene is not None]

    def entering(self, place: QueryPosition) -> list[tuple[QueryPosition, Edge | None]]:
        """The positions before this one, each with the comparison under which it follows."""
        follow = self.queries[place.query].template.automaton.follow
        edges = self.edges[place.query]
        return [
            (QueryPosition(place.query, p), edges.get((p, place.position)))
            for p, after in follow.items()
            if place.position in after
        ]

    def sums(self, query: int) -> list[int]:
        """The lanes of a query that are sums; lane -1 is the count."""
        lanes = self.queries[query].lanes
        return [-1, *(j for j, lane in enumerate(lanes) if lane.fold is Fold.SUM)]

    def extremes(self, query: int) -> list[int]:
        lanes = self.queries[query].lanes
        return [j for j, lane in enumerate(lanes) if lane.fold is not Fold.SUM]

    def _results(self) -> list[tuple[list[int], list[int]]]:
        """By query: its result totals, sums and extremes."""
        found = []
        for q in range(len(self.queries)):
            result = QueryPosition(q, -1)
            for j in self.sums(q):
                self.totals[result, j] = len(self.totals)
            for j in self.extremes(q):
                self.total_folds[result, j] = len(self.total_folds)
            numbers = [self.totals[result, j] for j in self.sums(q)]
            found.append((numbers, [self.total_folds[result, j] for j in self.extremes(q)]))
        return found

    def _blocks(self) -> list[EventBlock]:
        keys: dict[QueryPosition, tuple[Class, tuple[str, str] | None]] = {}
        for q, query in enumerate(self.queries):
            for position in query.template.positive:
                conditions = frozenset(
                    canonical(c.expression) for c in query.local if position.index in c.positions
                )
                place = QueryPosition(q, position.index)
                loop = comparison_loop(query, self.edges[q], position.index)
                keys[place] = (position.type, conditions), loop
        members = [key for key in keys.values() if key[1] is not None]
        blocks: dict[tuple[Class, tuple[str, str] | None], EventBlock] = {}
        for place, (class_, loop) in keys.items():
            alike = members.count((class_, loop))
            shared = loop if self.sharing != "never" and alike > 1 else None
            key = class_, shared
            if key not in blocks:
                blocks[key] = EventBlock([], self._class(class_), class_[0], shared)
            blocks[key].places.append(place)
        return list(blocks.values())

    def _class(self, class_: Class) -> int:
        if not class_[1]:
            return -1
        return self.classes.setdefault(class_, len(self.classes))

    def _number(self, block: EventBlock) -> None:
        for place in block.places:
            for j in self.sums(place.query):
                block.numbers[place, j] = len(block.numbers)
            for j in self.extremes(place.query):
                block.folds[place, j] = len(block.folds)
            if self.has_total(place):
                for j in self.sums(place.query):
                    self.totals[place, j] = len(self.totals)
                for j in self.extremes(place.query):
                    self.total_folds[place, j] = len(self.total_folds)

    def has_total(self, place: QueryPosition) -> bool:
        after = self.queries[place.query].template.automaton.follow.get(place.position, {})
        return any((place.position, q) not in self.edges[place.query] for q in after)

    def _number_stores(self) -> None:
        for q, edges in enumerate(self.edges):
            for (p, _), edge in edges.items():
                place = QueryPosition(q, p)
                key = self.block_of[place], edge.key
                if key not in self.stores:
                    self.stores[key] = len(self.stores)
                    self.store_numbers.append({})
                    self.store_fold_numbers.append({})
                numbers = self.store_numbers[self.stores[key]]
                folds = self.store_fold_numbers[self.stores[key]]
                for j in self.sums(q):
                    numbers.setdefault((place, j), len(numbers))
                for j in self.extremes(q):
                    folds.setdefault((place, j), len(folds))
