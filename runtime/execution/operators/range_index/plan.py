"""The queries of a share group, compiled to lists of numbers that the kernel walks.

A *place* is a position of a query. Places that the same events can sit in (same type, same local
conditions) belong to one *class*; within a class, those that share their Kleene state belong to
one *block*. What an event does in a block:

    start, add totals, gather from stores   ->  one vector of numbers, all queries side by side
    touch: what its own values add
    give to totals, put into stores

A *store* is an ordered index of the events of a block by one attribute, with the numbers of all
queries in one tree, so that one way down serves them all. *Totals* are sums that no condition
splits: what can step on freely, and the results.

A **kleene** is a state that several queries repeat under a comparison of the same attributes.
`snapshots.py` keeps its events for all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.language import ast as s
from runtime.language.aggregates import LaneInput
from runtime.language.canonical import canonical
from runtime.language.query import Fold, Query
from runtime.plan.operators.range_index.comparison_edges import Edge, edges_of

Ints: TypeAlias = npt.NDArray[np.int64]
Class: TypeAlias = tuple[str, frozenset[s.Expression]]
T = TypeVar("T")

# Every snapshot is a lane of every later event, so even `always` has an end.
MOST_SNAPSHOTS = 64
ALWAYS = np.iinfo(np.int64).min  # the query was there from the start


@dataclass(frozen=True)
class Place:
    """A position of a query, by the number of the query."""

    query: int
    position: int


class Lists(NamedTuple):
    """Rows of whole numbers for each owner: those of owner i are `first[i]` to `first[i + 1]`."""

    first: Ints
    rows: Ints


@dataclass(frozen=True)
class Plan:
    """What the kernel reads. Columns of a list are named beside it; numbers and folds are places
    in a block's vectors unless they say otherwise."""

    window: Lists  # within, slide, counted, open at once, since
    of_type: Lists  # by type code: block
    blocks: Lists  # by block: class (-1: no conditions), numbers, folds, kleene (-1: none)
    counts: Lists  # by block: number
    starts: Lists  # by block: number
    adds: Lists  # by block: total, number
    fold_adds: Lists  # by block: total fold, fold
    probes: Lists  # by block: probe, store, parts, border column
    probe_lanes: Lists  # by probe: lane of the store
    probe_numbers: Lists  # by probe: number, for each lane
    probe_folds: Lists  # by probe: fold of the store
    probe_fold_numbers: Lists  # by probe: fold, for each fold of the store
    touches: Lists  # by block: number, count, value column (-1: none), whether it counts ones
    fold_touches: Lists  # by block: fold, count, order column, whether it is a MAX
    gives: Lists  # by block: number, total
    fold_gives: Lists  # by block: fold, total fold
    stores: Lists  # by block: store, key column
    store_lanes: Lists  # by store: number
    store_folds: Lists  # by store: fold
    # ---- shared Kleene states
    kleenes: Lists  # by kleene: columns K_
    members: Lists  # by kleene: number, count's number, parts, touched value (-1: none)
    touched: Lists  # by kleene: value column (-1: none), whether it counts ones
    flushes: Lists  # by block: kleene that must have given its sums before the block reads totals
    stirs: Lists  # by block: kleene that is entered from what the block gives to
    kleene_probes: Lists  # by block: probe, kleene, parts, border column
    kleene_targets: Lists  # by kleene probe: row of `members`, number

    def packed(self) -> Ints:
        """All lists in one array, which is quick to hand around. It begins with the place of each
        list: there, for each owner, the place of its first row, one more to end the last."""
        lists = [getattr(self, name) for name in LISTS]
        parts: list[Ints] = [np.zeros(len(lists), np.int64)]
        used = len(lists)
        for number, each in enumerate(lists):
            parts[0][number] = used
            width = each.rows.shape[1]
            parts += [used + len(each.first) + width * each.first, each.rows.reshape(-1)]
            used += len(each.first) + each.rows.size
        return np.concatenate(parts)


LISTS = tuple(each.name for each in fields(Plan))
(WINDOW, OF_TYPE, BLOCKS, COUNTS, STARTS, ADDS, FOLD_ADDS) = range(7)
(PROBES, PROBE_LANES, PROBE_NUMBERS, PROBE_FOLDS, PROBE_FOLD_NUMBERS) = range(7, 12)
(TOUCHES, FOLD_TOUCHES, GIVES, FOLD_GIVES, STORES, STORE_LANES, STORE_FOLDS) = range(12, 19)
(KLEENES, MEMBERS, TOUCHED, FLUSHES, STIRS, KLEENE_PROBES, KLEENE_TARGETS) = range(19, 26)

# The columns of `kleenes`.
K_BLOCK, K_WIDTH, K_LIMIT, K_COMMON, K_DIFFER, K_KEY, K_BORDER, K_TREE = range(8)
K_INTS, K_PENDING, K_STORE, K_SHARED, K_ALONE, K_MOVE, K_COLUMNS = range(8, 15)


@dataclass(frozen=True)
class Costs:
    """Nanoseconds, as measured: of an event for each snapshot that its state has, for each number
    that queries keep of it by themselves, and to make such a number of an event that was shared.
    The optimizer may know better ones."""

    snapshot: int = 250
    number: int = 140
    move: int = 60


class Shared(NamedTuple):
    """A kleene as others know it, and what an event of it costs in nanoseconds: for each snapshot
    when it is shared, for all queries by themselves when it is not."""

    type: str
    snapshot: int
    alone: int


@dataclass
class Layout:
    """The plan, and what Python must know to feed it and to read results."""

    plan: Plan
    classes: list[tuple[str, tuple[s.Expression, ...]]]  # by class that has conditions
    orders: list[str]
    values: list[LaneInput]
    lanes: list[int]  # by shape of tree
    folds: list[int]
    trees: int  # of one window and partition
    totals: int
    total_folds: int
    results: list[tuple[list[int], list[int]]]  # by query: totals and folds, lane by lane
    kleene_ints: int = 0
    kleene_pending: int = 0
    snapshot_width: int = 0
    kleenes: list[Shared] = field(default_factory=list)
    chunks: list[list[int]] = field(default_factory=list)  # the shapes of its trees


@dataclass
class _Block:
    places: list[Place]
    class_: int
    type: str
    kleene: tuple[str, str] | None
    numbers: dict[tuple[Place, int], int] = field(default_factory=dict)
    folds: dict[tuple[Place, int], int] = field(default_factory=dict)


def lay_out(
    queries: Sequence[Query],
    types: Mapping[str, pa.DataType],
    code: Mapping[str, int],
    sharing: str,
    since: int | None,
    costs: Costs,
) -> Layout:
    """`code` are the codes of event types."""
    return _Planner(queries, types, sharing, costs).layout(code, since)


class _Numbering(Generic[T]):
    """Numbers for columns, in the order in which they are first asked for."""

    def __init__(self) -> None:
        self.known: dict[T, int] = {}

    def __call__(self, name: T | None) -> int:
        return -1 if name is None else self.known.setdefault(name, len(self.known))


class _Planner:
    def __init__(
        self,
        queries: Sequence[Query],
        types: Mapping[str, pa.DataType],
        sharing: str,
        costs: Costs,
    ) -> None:
        self.queries = queries
        self.edges = [edges_of(query, types) for query in queries]
        self.sharing = sharing
        self.costs = costs
        self.orders, self.values = _Numbering[str](), _Numbering[LaneInput]()
        self.lanes: list[int] = []
        self.folds: list[int] = []
        self.totals: dict[tuple[Place, int], int] = {}
        self.total_folds: dict[tuple[Place, int], int] = {}
        self.results = self._results()
        self.classes: dict[Class, int] = {}
        self.blocks = self._blocks()
        self.block_of = {p: b for b, block in enumerate(self.blocks) for p in block.places}
        for block in self.blocks:
            self._number(block)
        self.stores: dict[tuple[int, str], int] = {}
        self.store_numbers: list[dict[tuple[Place, int], int]] = []
        self.store_fold_numbers: list[dict[tuple[Place, int], int]] = []
        self._number_stores()
        self.kleenes = [b for b, block in enumerate(self.blocks) if block.kleene is not None]
        self.chunks: list[list[int]] = []
        self.shared: list[Shared] = []

    # ---- what there is ---------------------------------------------------------------------

    def sums(self, query: int) -> list[int]:
        """The lanes of a query that are sums; lane -1 is the count."""
        lanes = self.queries[query].lanes
        return [-1, *(j for j, lane in enumerate(lanes) if lane.fold is Fold.SUM)]

    def extremes(self, query: int) -> list[int]:
        lanes = self.queries[query].lanes
        return [j for j, lane in enumerate(lanes) if lane.fold is not Fold.SUM]

    def _results(self) -> list[tuple[list[int], list[int]]]:
        """The results of a query are totals of a place of their own, position -1."""
        found = []
        for q in range(len(self.queries)):
            result = Place(q, -1)
            for j in self.sums(q):
                self.totals[result, j] = len(self.totals)
            for j in self.extremes(q):
                self.total_folds[result, j] = len(self.total_folds)
            numbers = [self.totals[result, j] for j in self.sums(q)]
            found.append((numbers, [self.total_folds[result, j] for j in self.extremes(q)]))
        return found

    def _blocks(self) -> list[_Block]:
        keys: dict[Place, tuple[Class, tuple[str, str] | None]] = {}
        for q, query in enumerate(self.queries):
            for position in query.template.positive:
                conditions = frozenset(
                    canonical(c.expression) for c in query.local if position.index in c.positions
                )
                place = Place(q, position.index)
                keys[place] = (position.type, conditions), self._loop(place)
        members = [key for key in keys.values() if key[1] is not None]
        blocks: dict[tuple[Class, tuple[str, str] | None], _Block] = {}
        for place, (class_, loop) in keys.items():
            alike = members.count((class_, loop))
            shared = loop if self.sharing != "never" and alike > 1 else None
            key = class_, shared
            if key not in blocks:
                blocks[key] = _Block([], self._class(class_), class_[0], shared)
            blocks[key].places.append(place)
        return list(blocks.values())

    def _class(self, class_: Class) -> int:
        if not class_[1]:
            return -1
        return self.classes.setdefault(class_, len(self.classes))

    def _loop(self, place: Place) -> tuple[str, str] | None:
        """The attributes that a place compares with itself, if its events could be kept for
        several queries together: what enters it must not depend on the event, and all that is
        kept of it must be sums."""
        edges, p = self.edges[place.query], place.position
        loop = edges.get((p, p))
        if loop is None or self.extremes(place.query):
            return None
        entered = any(q == p and o != p for o, q in edges)
        otherwise = any(o == p and edge.key != loop.key for (o, _), edge in edges.items())
        return None if entered or otherwise else (loop.key, loop.border)

    def _number(self, block: _Block) -> None:
        for place in block.places:
            for j in self.sums(place.query):
                block.numbers[place, j] = len(block.numbers)
            for j in self.extremes(place.query):
                block.folds[place, j] = len(block.folds)
            if self._has_total(place):
                for j in self.sums(place.query):
                    self.totals[place, j] = len(self.totals)
                for j in self.extremes(place.query):
                    self.total_folds[place, j] = len(self.total_folds)

    def _has_total(self, place: Place) -> bool:
        after = self.queries[place.query].template.automaton.follow.get(place.position, {})
        return any((place.position, q) not in self.edges[place.query] for q in after)

    def _number_stores(self) -> None:
        for q, edges in enumerate(self.edges):
            for (p, _), edge in edges.items():
                place = Place(q, p)
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
        self.lanes = [len(numbers) for numbers in self.store_numbers]
        self.folds = [len(folds) for folds in self.store_fold_numbers]

    # ---- the lists -------------------------------------------------------------------------

    def layout(self, code: Mapping[str, int], since: int | None) -> Layout:
        blocks = range(len(self.blocks))
        probes = self._probes()
        kleenes, ints, pending = self._kleenes()
        flushes, stirs = self._flows()
        kleene_probes = self._kleene_probes()
        plan = Plan(
            window=self._window(since),
            of_type=self._of_type(code),
            blocks=_lists([[self._block(b)] for b in blocks], 4),
            counts=_lists([self._counts(b) for b in blocks], 1),
            starts=_lists([self._starts(b) for b in blocks], 1),
            adds=_lists([self._adds(b, fold=False) for b in blocks], 2),
            fold_adds=_lists([self._adds(b, fold=True) for b in blocks], 2),
            probes=probes[0],
            probe_lanes=probes[1],
            probe_numbers=probes[2],
            probe_folds=probes[3],
            probe_fold_numbers=probes[4],
            touches=_lists([self._touches(b) for b in blocks], 4),
            fold_touches=_lists([self._fold_touches(b) for b in blocks], 4),
            gives=_lists([self._gives(b, fold=False) for b in blocks], 2),
            fold_gives=_lists([self._gives(b, fold=True) for b in blocks], 2),
            stores=_lists([self._stores(b) for b in blocks], 2),
            store_lanes=_lists(self._kept(fold=False), 1),
            store_folds=_lists(self._kept(fold=True), 1),
            kleenes=kleenes,
            members=_lists([self._members(b) for b in self.kleenes], 4),
            touched=_lists([self._touched_columns(b) for b in self.kleenes], 2),
            flushes=flushes,
            stirs=stirs,
            kleene_probes=kleene_probes[0],
            kleene_targets=kleene_probes[1],
        )
        return Layout(
            plan,
            [(type_, tuple(conditions)) for type_, conditions in self.classes],
            list(self.orders.known),
            list(self.values.known),
            self.lanes,
            self.folds,
            len(self.lanes),
            len(self.totals),
            len(self.total_folds),
            self.results,
            ints,
            pending,
            max((len(self.blocks[b].numbers) for b in self.kleenes), default=0),
            self.shared,
            self.chunks,
        )

    def _block(self, b: int) -> list[int]:
        block = self.blocks[b]
        kleene = self.kleenes.index(b) if b in self.kleenes else -1
        return [block.class_, len(block.numbers), len(block.folds), kleene]

    def _kept(self, *, fold: bool) -> list[list[list[int]]]:
        """What each store keeps of an event, by its place in the block's vector."""
        kept = self.store_fold_numbers if fold else self.store_numbers
        return [
            [[(self.blocks[b].folds if fold else self.blocks[b].numbers)[key]] for key in kept[at]]
            for (b, _), at in self.stores.items()
        ]

    def _window(self, since: int | None) -> Lists:
        window = self.queries[0].window
        at_once = window.open_at_once
        begin = ALWAYS if since is None else since
        return _lists([[[window.within, window.slide, int(window.counted), at_once, begin]]], 5)

    def _of_type(self, code: Mapping[str, int]) -> Lists:
        rows: list[list[list[int]]] = [[] for _ in range(max(code.values(), default=-1) + 1)]
        for b, block in enumerate(self.blocks):
            rows[code[block.type]].append([b])
        return _lists(rows, 1)

    def _counts(self, b: int) -> list[list[int]]:
        block = self.blocks[b]
        return [[block.numbers[place, -1]] for place in block.places]

    def _starts(self, b: int) -> list[list[int]]:
        block = self.blocks[b]
        return [
            [block.numbers[place, -1]]
            for place in block.places
            if place.position in self.queries[place.query].template.automaton.first
        ]

    def _entering(self, place: Place) -> list[tuple[Place, Edge | None]]:
        """The places before this one, and under which comparison."""
        follow = self.queries[place.query].template.automaton.follow
        edges = self.edges[place.query]
        return [
            (Place(place.query, p), edges.get((p, place.position)))
            for p, after in follow.items()
            if place.position in after
        ]

    def _adds(self, b: int, *, fold: bool) -> list[list[int]]:
        block = self.blocks[b]
        totals = self.total_folds if fold else self.totals
        numbers = block.folds if fold else block.numbers
        return [
            [totals[before, j], numbers[place, j]]
            for place in block.places
            for before, edge in self._entering(place)
            if edge is None
            for j in (self.extremes if fold else self.sums)(place.query)
        ]

    def _probes(self) -> tuple[Lists, ...]:
        """Steps from one store with one comparison are one probe, whatever their queries."""
        by_block: list[list[list[int]]] = [[] for _ in self.blocks]
        lanes: list[list[list[int]]] = []
        folds: list[list[list[int]]] = []
        known: dict[tuple[int, int, int, int], int] = {}
        for b, block in enumerate(self.blocks):
            for place in block.places:
                for before, edge in self._entering(place):
                    if edge is None:
                        continue
                    store = self.stores[self.block_of[before], edge.key]
                    key = b, store, edge.parts, self.orders(edge.border)
                    if key not in known:
                        known[key] = len(lanes)
                        by_block[b].append([len(lanes), *key[1:]])
                        lanes.append([])
                        folds.append([])
                    for j in self.sums(place.query):
                        lane = self.store_numbers[store][before, j]
                        lanes[known[key]].append([lane, block.numbers[place, j]])
                    for j in self.extremes(place.query):
                        lane = self.store_fold_numbers[store][before, j]
                        folds[known[key]].append([lane, block.folds[place, j]])
        columns = [
            [[[row[i]] for row in rows] for rows in each] for each in (lanes, folds) for i in (0, 1)
        ]
        return _lists(by_block, 4), *(_lists(column, 1) for column in columns)

    def _touches(self, b: int) -> list[list[int]]:
        block, rows = self.blocks[b], []
        for place in block.places:
            for j in self.sums(place.query)[1:]:
                lane = self.queries[place.query].lanes[j]
                if place.position in lane.positions:
                    count = block.numbers[place, -1]
                    column = self.values(lane.input.column)
                    rows.append([block.numbers[place, j], count, column, lane.input.is_count])
        return rows

    def _fold_touches(self, b: int) -> list[list[int]]:
        block, rows = self.blocks[b], []
        for place in block.places:
            for j in self.extremes(place.query):
                lane = self.queries[place.query].lanes[j]
                if place.position in lane.positions:
                    count, most = block.numbers[place, -1], lane.fold is Fold.MAX
                    column = self.orders(lane.attribute)
                    rows.append([block.folds[place, j], count, column, int(most)])
        return rows

    def _gives(self, b: int, *, fold: bool) -> list[list[int]]:
        block, rows = self.blocks[b], []
        totals = self.total_folds if fold else self.totals
        numbers = block.folds if fold else block.numbers
        for place in block.places:
            targets = [place] if self._has_total(place) else []
            if place.position in self.queries[place.query].template.automaton.last:
                targets.append(Place(place.query, -1))
            for target in targets:
                for j in (self.extremes if fold else self.sums)(place.query):
                    rows.append([numbers[place, j], totals[target, j]])
        return rows

    def _stores(self, b: int) -> list[list[int]]:
        return [
            [store, self.orders(key)] for (owner, key), store in self.stores.items() if owner == b
        ]

    # ---- shared Kleene states --------------------------------------------------------------

    def _kleenes(self) -> tuple[Lists, int, int]:
        rows, ints, pending = [], 0, 0
        for b in self.kleenes:
            block = self.blocks[b]
            assert block.kleene is not None
            key, border = block.kleene
            parts = [self._parts(place) for place in block.places]
            common = int(np.bitwise_and.reduce(parts))
            differ = int(np.bitwise_or.reduce(parts)) & ~common
            width = 1 + len(self._touched_columns(b))
            limit, shared = self._limit(b), self._shared(b, width, differ)
            self.shared.append(shared)
            tree = len(self.lanes)
            self.chunks.append(list(range(tree, tree + len(chunk_sizes(limit)))))
            for size in chunk_sizes(limit):
                self.lanes.append(size * width)
                self.folds.append(0)
            store = self.stores[b, key]
            columns = self.orders(key), self.orders(border)
            known = [b, width, limit, common, differ, *columns, tree, ints, pending, store]
            rows.append([*known, *self._costs(b, shared)])
            ints += STATE_INTS + limit
            pending += limit * width
        return _lists([[row] for row in rows], K_COLUMNS), ints, pending

    def _limit(self, b: int) -> int:
        """How many snapshots there is room for. More than queries have numbers never pay."""
        if self.sharing == "always":
            return MOST_SNAPSHOTS
        return min(MOST_SNAPSHOTS, max(2, len(self.blocks[b].numbers)))

    def _shared(self, b: int, width: int, differ: int) -> Shared:
        """Where comparisons differ, each part that differs is looked up by itself."""
        block, looks = self.blocks[b], 1 + bin(differ).count("1")
        alone = self.costs.number * len(block.numbers)
        return Shared(block.type, self.costs.snapshot * width * looks, alone)

    def _costs(self, b: int, shared: Shared) -> list[int]:
        """Of an event: for each snapshot, for all queries by themselves, to move it."""
        snapshot = shared.snapshot if self.sharing == "dynamic" else 0
        return [snapshot, shared.alone, self.costs.move * len(self.blocks[b].numbers)]

    def _parts(self, place: Place) -> int:
        return self.edges[place.query][place.position, place.position].parts

    def _touched_columns(self, b: int) -> list[list[int]]:
        """What an event adds to sums of the state, each once whatever the queries."""
        columns = dict.fromkeys((column, ones) for _, _, column, ones in self._touches(b))
        return [list(column) for column in columns]

    def _members(self, b: int) -> list[list[int]]:
        """Every number of the block, in order."""
        block = self.blocks[b]
        columns = self._touched_columns(b)
        touched = {row[0]: columns.index(row[2:]) for row in self._touches(b)}
        return [
            [number, block.numbers[place, -1], self._parts(place), touched.get(number, -1)]
            for (place, _), number in block.numbers.items()
        ]

    def _flows(self) -> tuple[Lists, Lists]:
        blocks = range(len(self.blocks))
        given = [{row[1] for row in self._gives(b, fold=False)} for b in blocks]
        read = [{row[0] for row in self._adds(b, fold=False)} for b in blocks]
        flushes = [
            [[k] for k, owner in enumerate(self.kleenes) if read[b] & given[owner]] for b in blocks
        ]
        stirs = [
            [[k] for k, owner in enumerate(self.kleenes) if given[b] & read[owner]] for b in blocks
        ]
        return _lists(flushes, 1), _lists(stirs, 1)

    def _kleene_probes(self) -> tuple[Lists, Lists]:
        """Steps that leave a shared Kleene state under a comparison."""
        by_block: list[list[list[int]]] = [[] for _ in self.blocks]
        targets: list[list[list[int]]] = []
        known: dict[tuple[int, int, int, int], int] = {}
        for b, block in enumerate(self.blocks):
            for place in block.places:
                for before, edge in self._entering(place):
                    owner = self.block_of[before]
                    if edge is None or owner not in self.kleenes or before == place:
                        continue
                    shared = self.blocks[owner].kleene
                    assert shared is not None
                    assert edge.key == shared[0], "kept by one attribute only"
                    key = b, self.kleenes.index(owner), edge.parts, self.orders(edge.border)
                    if key not in known:
                        known[key] = len(targets)
                        by_block[b].append([len(targets), *key[1:]])
                        targets.append([])
                    for j in self.sums(place.query):
                        number = self.blocks[owner].numbers[before, j]
                        targets[known[key]].append([number, block.numbers[place, j]])
        return _lists(by_block, 4), _lists(targets, 2)


# The state of a kleene in a window and partition, before the numbers of its snapshots.
S_COUNT, S_CURRENT, S_SEEN, S_VERSION, S_ALONE, S_RESERVED, STATE_INTS = range(7)


def chunk_sizes(limit: int) -> list[int]:
    """How many snapshots each tree of a kleene holds: 1, 1, 2, 4, 8, ..., so that a state with few
    snapshots has small nodes, and one with many few trees."""
    sizes = [1]
    while sum(sizes) < limit:
        sizes.append(sum(sizes))
    return sizes


def _lists(rows: Sequence[Sequence[Sequence[int]]], width: int) -> Lists:
    first = np.zeros(len(rows) + 1, np.int64)
    first[1:] = np.cumsum([len(each) for each in rows])
    flat = [row for each in rows for row in each]
    return Lists(first, np.array(flat, np.int64).reshape(len(flat), width))
