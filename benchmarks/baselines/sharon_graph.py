"""What SHARON's executor keeps, as arrays for its kernel.

A **table** is a shared segment (or the runs of a repeated type): a row for each of its prefixes, a
column for each START event. A **node** is what a query has of one of its prefixes: a private one is
a count that goes on from that of its parent, the others are a prefix and a row of a table,
combined. A **pair** is what a prefix came to at each START event of a table. The sequences to which
one query is flattened are a tree of nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.baselines.added import Added
from benchmarks.baselines.decoded import FOLDS, NOTHING, Decoded, Ints, Mask
from benchmarks.baselines.elements import Element
from benchmarks.baselines.flattened import lengths
from benchmarks.baselines.sharon_plan import segments
from benchmarks.baselines.slices import Slices
from runtime.language.query import Fold, Lane

ROOT = -1
PRIVATE = -1


@dataclass(frozen=True)
class Graph:
    labelled: Mask  #: events that some query is about
    tables: Ints
    arrays: tuple[Any, ...]


@dataclass
class _Table:
    labels: tuple[str, ...]  #: of a run: one
    run: bool
    rows: int
    columns: int
    #: By fold, and which values it adds in each row.
    lanes: dict[tuple[Fold, tuple[int, ...]], int] = field(default_factory=dict)
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)  #: by query and parent


@dataclass
class _Node:
    parent: int
    query: int
    label: str = ""
    pair: int = PRIVATE
    table: int = -1
    row: int = 0
    lanes: list[int] = field(default_factory=list)


def build(
    group: Sequence[Decoded],
    parts: Mapping[str, Sequence[Element]],
    has: Sequence[Ints],
    found: Slices,
) -> Graph:
    return _Builder(group, [parts[each.query.name] for each in group], has, found).built()


class _Builder:
    def __init__(
        self,
        group: Sequence[Decoded],
        parts: Sequence[Sequence[Element]],
        has: Sequence[Ints],
        found: Slices,
    ) -> None:
        self.group, self.parts, self.found = group, parts, found
        self.most = [each.max(axis=0, initial=0) for each in has]
        self.events: dict[str, Mask] = {}
        rates: dict[str, float] = {}
        for query, elements, each in zip(group, parts, has, strict=True):
            for state, element in enumerate(elements):
                if element.label not in self.events:
                    self.events[element.label] = query.state == state
                    rates[element.label] = float(each[:, state].mean()) if len(each) else 0.0
        names = [each.query.name for each in group]
        self.segments = segments(dict(zip(names, parts, strict=True)), rates)
        self.tables: list[_Table] = []
        self.numbers: dict[tuple[bool, tuple[str, ...]], int] = {}
        self.nodes: list[_Node] = []
        self.added = Added(group)
        self.finals: list[list[int]] = []

    def built(self) -> Graph:
        for query in range(len(self.group)):
            self.finals.append(self._query(query))
        labels = {label: number for number, label in enumerate(self.events)}
        any_label = np.zeros(len(self.group[0].time), np.bool_)
        for mask in self.events.values():
            any_label |= mask
        pairs, columns = self._pairs()
        tables, lanes, memory = self._tables(columns)
        arrays = (
            *self._labels(),
            *_lists([[n for n, x in enumerate(self.nodes) if x.label == of] for of in labels]),
            *_lists([[n for n, x in enumerate(self.tables) if x.labels[0] == of] for of in labels]),
            *self._cells(labels),
            tables,
            *lanes,
            pairs,
            self._node_array(),
            self._padded([node.lanes for node in self.nodes]),
            *_lists(self.finals),
            np.array([len(each.query.lanes) for each in self.group], np.int64),
            self._padded([each.folds.tolist() for each in self.group]),
            self.added.rows,
            memory,
        )
        return Graph(any_label, tables, arrays)

    # ---- nodes of a query ----

    def _query(self, query: int) -> list[int]:
        """The nodes in which its flattened sequences end."""
        elements = self.parts[query]
        ranges = lengths(elements, self.most[query])
        chosen = self.segments[self.group[query].query.name]
        ends, state = [ROOT], 0
        while state < len(elements):
            if state in chosen:
                pattern = chosen[state]
                table = self._table(pattern, run=False, rows=len(pattern))
                states = range(state, state + len(pattern))
                ends = [self._shared(query, parent, table, states, len(pattern)) for parent in ends]
                state += len(pattern)
                continue
            ends = [
                node
                for parent in ends
                for repeats in ranges[state]
                for node in [self._repeated(query, parent, state, repeats, ranges[state][-1])]
            ]
            state += 1
        return ends

    def _repeated(self, query: int, parent: int, state: int, repeats: int, most: int) -> int:
        element = self.parts[query][state]
        if repeats == 0:
            return parent
        if not element.repeated:
            lanes = [self.added.row(lane, state) for lane in self.group[query].query.lanes]
            return self._made(_Node(parent, query, element.label, lanes=lanes))
        table = self._table((element.label,), run=True, rows=most)
        return self._shared(query, parent, table, range(state, state + 1), repeats)

    def _shared(self, query: int, parent: int, table: int, states: range, row: int) -> int:
        found = self.tables[table]
        pair = found.pairs.setdefault((query, parent), len(found.pairs))
        lanes = [self._covered(found, lane, states) for lane in self.group[query].query.lanes]
        return self._made(_Node(parent, query, "", pair, table, row, lanes))

    def _made(self, node: _Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _table(self, labels: tuple[str, ...], run: bool, rows: int) -> int:
        if (run, labels) not in self.numbers:
            self.numbers[run, labels] = len(self.tables)
            starts = np.concatenate(([0], np.cumsum(self.events[labels[0]][self.found.order])))
            columns = (starts[self.found.ends] - starts[self.found.begins]).max(initial=1)
            self.tables.append(_Table(labels, run, rows, int(columns)))
        return self.numbers[run, labels]

    def _covered(self, table: _Table, lane: Lane, states: range) -> int:
        """The lane of a table that has a query's lane of the states that the table stands for."""
        rows = tuple(self.added.row(lane, state) for state in states)
        return -1 if max(rows) < 0 else table.lanes.setdefault((lane.fold, rows), len(table.lanes))

    # ---- arrays ----

    def _labels(self) -> tuple[Ints, Ints]:
        """The labels of each event."""
        events = [np.flatnonzero(mask) for mask in self.events.values()]
        event = np.concatenate(events)
        label = np.repeat(np.arange(len(events)), [len(each) for each in events])
        order = np.argsort(event, kind="stable")
        starts = np.searchsorted(event[order], np.arange(len(self.group[0].time) + 1))
        return starts, label[order]

    def _cells(self, labels: Mapping[str, int]) -> tuple[Ints, Ints]:
        """By label: tables, and the rows after the first that its events bring on."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in labels]
        for number, table in enumerate(self.tables):
            if table.run:
                if table.rows > 1:
                    found[labels[table.labels[0]]].append((number, 2, table.rows))
                continue
            for row, label in enumerate(table.labels[1:], 2):
                found[labels[label]].append((number, row, row))
        starts = np.cumsum([0, *map(len, found)])
        return starts, np.array([x for each in found for x in each], np.int64).reshape(-1, 3)

    def _pairs(self) -> tuple[Ints, int]:
        """Parent, query, and where its doubles are; for all tables, one after the other."""
        rows, at = [], 0
        for table in self.tables:
            for query, parent in table.pairs:
                rows.append((parent, query, at))
                at += table.columns * (1 + len(self.group[query].query.lanes))
        return np.array(rows, np.int64).reshape(-1, 3), at

    def _tables(self, at: int) -> tuple[Ints, tuple[Ints, Ints], Any]:
        """Columns, rows, where its doubles are, run, first lane, lanes, first pair, pairs, version;
        the folds of all lanes and what they add by row; the doubles of pairs and tables."""
        rows, added = [], []
        folds: list[int] = []
        pair = version = 0
        for table in self.tables:
            width = 1 + len(table.lanes)
            rows.append(
                (
                    *(table.columns, table.rows, at, table.run),
                    *(len(folds), len(table.lanes), pair, len(table.pairs), version),
                )
            )
            for fold, numbers in table.lanes:
                added.append([-1, *(numbers * table.rows if table.run else numbers)])
                folds.append(FOLDS[fold])
            at += table.columns * (table.rows + 1) * width
            pair += len(table.pairs)
            version += table.rows + 1
        memory = np.zeros(at)
        for row, table in zip(rows, self.tables, strict=True):
            size = table.columns * (table.rows + 1)
            for number, (fold, _) in enumerate(table.lanes, 1):
                memory[row[2] + number * size : row[2] + (number + 1) * size] = NOTHING[fold]
        lanes = np.array(folds, np.int64), self._padded(added)
        return np.array(rows, np.int64).reshape(-1, 9), lanes, memory

    def _node_array(self) -> Ints:
        """Parent, query, pair, table, row."""
        first = np.cumsum([0, *(len(table.pairs) for table in self.tables)])
        rows = []
        for each in self.nodes:
            pair = PRIVATE if each.pair < 0 else first[each.table] + each.pair
            rows.append((each.parent, each.query, pair, each.table, each.row))
        return np.array(rows, np.int64).reshape(-1, 5)

    def _padded(self, rows: Sequence[Sequence[int]]) -> Ints:
        found = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
        for row, each in zip(found, rows, strict=True):
            row[: len(each)] = each
        return found


def _lists(rows: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Lists of numbers as one array, and where each begins."""
    return np.cumsum([0, *map(len, rows)]), np.array([x for row in rows for x in row], np.int64)
