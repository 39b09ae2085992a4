"""The state layout of a share group: which states there are and which queries are contiguous.

The layout is the merged template: for each event type the states that its events enter, with the
condition that picks them, and the values that queries aggregate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from runtime.language import ast as s
from runtime.language.aggregates import LaneInput
from runtime.language.query import Fold, Lane, Query
from runtime.language.window import pane_of
from runtime.plan.operators.graphlet.eligibility import Condition, condition_of
from runtime.plan.operators.graphlet.row_class import RowClass
from runtime.plan.operators.graphlet.row_width import is_sum
from runtime.plan.operators.graphlet.shared_subpattern import SharedSubpattern

MOST_CONDITIONS = 64
FEW_ENTRIES = 16

Extreme: TypeAlias = tuple[str, Fold]


class StateEntry(NamedTuple):
    """One state of `queries` contiguous queries of a row class, from `place` on. Events of the
    type enter it if the condition with number `bit` picks them."""

    type: str
    bit: int
    row_class: int
    position: int
    place: int
    queries: int


@dataclass(frozen=True)
class GraphletLayout:
    """`since` has, for each query, the start of the first window that it reports.

    A layout is a value that computes its fields when they are first read. The planner reads other
    fields than the operator does: `conditions` to split a group, `entries` of each candidate group
    to estimate its cost. Only the operator reads what depends on the kernel (`exact`)."""

    queries: tuple[Query, ...]
    since: tuple[int, ...]
    sharing: str
    exact: bool = False  #: whether the kernel is compiled for this workload alone
    parts: tuple[SharedSubpattern, ...] = ()

    # ---- types, conditions and columns ---------------------------------------------------------

    @cached_property
    def types(self) -> list[str]:
        return sorted({p.type for q in self.queries for p in q.template.positions})

    @cached_property
    def pane(self) -> int:
        return pane_of(query.window for query in self.queries)

    @property
    def counted(self) -> bool:
        """Whether windows count events; a share group never mixes both kinds."""
        return self.queries[0].window.counted

    @cached_property
    def conditions(self) -> dict[str, list[Condition]]:
        """For each type the conditions that queries have on it, a bit each. Comparisons with
        numbers are sorted, so that similar ones have adjacent bits."""
        by_type: dict[str, dict[Condition, None]] = {type_: {} for type_ in self.types}
        for query in self.queries:
            for position in query.template.positions:
                by_type[position.type][condition_of(query, position.index)] = None
        return {type_: sorted(conditions, key=_sort_key) for type_, conditions in by_type.items()}

    @cached_property
    def sum_columns(self) -> dict[str, list[LaneInput]]:
        """For each type the columns to sum."""
        return {
            type_: sorted(
                {
                    lane.input.column
                    for lane in self._lanes_of(type_)
                    if is_sum(lane) and lane.input.column is not None
                }
            )
            for type_ in self.types
        }

    @cached_property
    def extremes(self) -> dict[str, list[Extreme]]:
        """For each type the minima and maxima to keep."""
        by_type: dict[str, list[Extreme]] = {}
        for type_ in self.types:
            lanes = {
                (lane.attribute or "", lane.fold)
                for lane in self._lanes_of(type_)
                if not is_sum(lane)
            }
            by_type[type_] = sorted(lanes, key=lambda extreme: (extreme[0], extreme[1].value))
        return by_type

    def _lanes_of(self, type_: str) -> list[Lane]:
        return [
            lane
            for query in self.queries
            for lane in query.lanes
            if any(query.template.positions[p].type == type_ for p in lane.positions)
        ]

    @cached_property
    def attributes(self) -> list[LaneInput]:
        return sorted({column for columns in self.sum_columns.values() for column in columns})

    @cached_property
    def extreme_lanes(self) -> list[Extreme]:
        """The minima and maxima of all types."""
        lanes = {extreme for extremes in self.extremes.values() for extreme in extremes}
        return sorted(lanes, key=lambda extreme: (extreme[0], extreme[1].value))

    @cached_property
    def members(self) -> list[list[int]]:
        """The numbers of the queries in each row class: those with the same pattern up to type
        names, the same lanes and the same windows. Queries that the same events affect are next
        to each other."""
        if self.is_unrolled:
            return [[number] for number in range(len(self.queries))]
        return [self._order_members(members) for members in self._same_shape]

    @cached_property
    def _same_shape(self) -> list[list[int]]:
        by_shape: dict[tuple[object, ...], list[int]] = {}
        for number, query in enumerate(self.queries):
            by_shape.setdefault(_shape(query), []).append(number)
        return list(by_shape.values())

    @cached_property
    def states(self) -> list[list[int]]:
        """For each query and position the state of the row class that holds it. Any order is
        correct; this one lets contiguous queries keep the same type in the same state, wherever
        it is in their patterns, so that one step updates them all."""
        states_of = [list(range(len(query.template.positions))) for query in self.queries]
        if self.is_unrolled or self.parts:
            return states_of
        for members in self._same_shape:
            labels = [[self._label(n, p) for p in range(len(states_of[n]))] for n in members]
            for number, states in zip(members, _match_places(labels), strict=True):
                states_of[number] = states
        return states_of

    def state(self, entry: StateEntry, position: int | None = None) -> int:
        """The state in which the queries of an entry keep its position, or another one."""
        position = entry.position if position is None else position
        if entry.row_class >= len(self.row_classes):
            return position
        return self.states[self.members[entry.row_class][entry.place]][position]

    def role(self, entry: StateEntry) -> tuple[object, ...]:
        """What entries of one row class and type must have in common to be merged."""
        if entry.row_class >= len(self.row_classes):
            return (entry.position,)
        return self._role(
            entry.row_class, self.members[entry.row_class][entry.place], entry.position
        )

    def _role(self, number: int, query: int, position: int) -> tuple[object, ...]:
        row_class, states = self.row_classes[number], self.states[query]
        return (
            states[position],
            position in row_class.first,
            position in row_class.loops,
            position in row_class.active,
            tuple((states[p], p in row_class.active) for p in row_class.before[position]),
            tuple(position in lane.positions for lane in (*row_class.sums, *row_class.mins)),
        )

    def _order_members(self, members: list[int]) -> list[int]:
        """Groups queries whose loops pick the same events; within a group, each query is followed
        by the one that has most in common with it."""
        ordered: list[int] = []
        for _, group in groupby(sorted(members, key=self._labels), key=self._loop_labels):
            numbers = list(group)
            labels = [[self._label(n, p) for p in self._positions(n)] for n in numbers]
            ordered += [numbers[place] for place in _chain(labels)]
        return ordered

    def _labels(self, number: int) -> list[tuple[bool, str, int]]:
        """The types and conditions of a query, those of its loops first."""
        follow = self._follow(number)
        labels = [self._label(number, p) for p in follow]
        loops = [p in after for p, after in follow.items()]
        return sorted((not loop, *label) for loop, label in zip(loops, labels, strict=True))

    def _loop_labels(self, number: int) -> list[tuple[bool, str, int]]:
        return [each for each in self._labels(number) if not each[0]]

    def _positions(self, number: int) -> list[int]:
        """The positions of a query by their states."""
        return sorted(range(len(self.states[number])), key=self.states[number].__getitem__)

    def _follow(self, number: int) -> Mapping[int, Collection[int]]:
        return self.queries[number].template.automaton.follow

    def _label(self, number: int, position: int) -> tuple[str, int]:
        """The type and the condition that pick the events of a position."""
        query = self.queries[number]
        type_ = query.template.positions[position].type
        return type_, self.conditions[type_].index(condition_of(query, position))

    @cached_property
    def row_classes(self) -> list[RowClass]:
        """The row classes of queries, in the order of `members`."""
        return [RowClass.of_queries(self.queries[each[0]], len(each)) for each in self.members]

    @cached_property
    def all_row_classes(self) -> list[RowClass]:
        """The row classes of queries, then those of shared parts."""
        window = self.queries[0].window
        return [*self.row_classes, *(RowClass.of_part(part, window) for part in self.parts)]

    # ---- entries ---------------------------------------------------------------------------

    @cached_property
    def entries(self) -> list[StateEntry]:
        return self._entries(lambda label: label)

    @cached_property
    def wide_entries(self) -> list[StateEntry]:
        """The entries if all conditions on a type were one."""
        return self._entries(lambda label: (label[0], 0))

    @cached_property
    def tied_entries(self) -> list[StateEntry]:
        """The entries of queries only, including those inside shared parts."""
        return sorted(self._of_queries(lambda label: label, inside=True)) if self.parts else []

    def _entries(self, seen_as: Callable[[tuple[str, int]], tuple[str, int]]) -> list[StateEntry]:
        """Ordered by type and bit, steps first."""
        return sorted(
            [*self._of_queries(seen_as, inside=False), *self._of_parts(seen_as)],
            key=lambda e: (e.type, e.bit, not self.steps(e), e.row_class, self.state(e), e.place),
        )

    def _of_queries(
        self, seen_as: Callable[[tuple[str, int]], tuple[str, int]], *, inside: bool
    ) -> list[StateEntry]:
        found = []
        for row_class, members in enumerate(self.members):
            positions = [self._positions(n) for n in members]
            for state in range(self.row_classes[row_class].states):
                kept = [(n, each[state]) for n, each in zip(members, positions, strict=True)]
                roles = [
                    (
                        seen_as(self._label(n, p)),
                        inside or not self._in_part(n, p),
                        self._role(row_class, n, p),
                    )
                    for n, p in kept
                ]
                place = 0
                for (key, included, _), equal in groupby(roles):
                    count = len(list(equal))
                    if included:
                        found.append(StateEntry(*key, row_class, kept[place][1], place, count))
                    place += count
        return found

    def _in_part(self, number: int, position: int) -> bool:
        query = self.queries[number]
        type_ = query.template.positions[position].type
        return any(query.name in part.queries and type_ in part.types for part in self.parts)

    def _of_parts(self, seen_as: Callable[[tuple[str, int]], tuple[str, int]]) -> list[StateEntry]:
        found = []
        for n, part in enumerate(self.parts):
            row_class = len(self.row_classes) + n
            number = self.number(part.queries[0])
            for place, position in enumerate(part.positions(self.queries[number])):
                key = seen_as(self._label(number, position))
                found.append(
                    StateEntry(*key, row_class, place, 0, self.all_row_classes[row_class].side)
                )
        return found

    def steps(self, entry: StateEntry) -> bool:
        """Whether a state has exactly one predecessor, or trends only start there."""
        row_class, position = self.all_row_classes[entry.row_class], entry.position
        entrances = len(row_class.before[position]) + (position in row_class.first)
        return position not in row_class.loops and entrances == 1

    def number(self, name: str) -> int:
        """The index of a query."""
        return next(n for n, query in enumerate(self.queries) if query.name == name)

    def states_entered(self, type_: str) -> int:
        """The number of states of queries that events of a type enter."""
        return sum(p.type == type_ for q in self.queries for p in q.template.positions)

    @cached_property
    def kleene_types(self) -> set[str]:
        """The types that more than one query repeats, alone or within a longer part."""
        repeated = [type_ for query in self.queries for type_ in _repeated(query)]
        return {type_ for type_ in repeated if repeated.count(type_) > 1}

    @property
    def is_unrolled(self) -> bool:
        """Whether the states are few enough to generate code for each of them."""
        states = sum(len(query.template.positions) for query in self.queries)
        return self.exact and not self.parts and states <= FEW_ENTRIES

    @cached_property
    def fits(self) -> bool:
        """Whether the conditions on each type fit in the bits of one word."""
        return all(len(conditions) <= MOST_CONDITIONS for conditions in self.conditions.values())


def _repeated(query: Query) -> set[str]:
    """The types of the states that a trend can reach again."""
    follow = query.template.automaton.follow
    reached = {p: set(after) for p, after in follow.items()}
    for middle in follow:
        for p in follow:
            if middle in reached[p]:
                reached[p] |= reached[middle]
    return {query.template.positions[p].type for p, after in reached.items() if p in after}


def _shape(query: Query) -> tuple[object, ...]:
    """What queries must have in common to be in one row class."""
    automaton = query.template.automaton
    return (
        tuple((p, tuple(after)) for p, after in automaton.follow.items()),
        tuple(automaton.first),
        tuple(automaton.last),
        query.lanes,
        query.window,
    )


def _match_places(rows: list[list[tuple[str, int]]]) -> list[list[int]]:
    """Assigns the elements of each row to distinct places, so that an element has the same place
    in most rows; greedily, the most frequent elements first."""
    holders: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for n, row in enumerate(rows):
        for p, each in enumerate(row):
            holders.setdefault(each, []).append((n, p))
    places_of = [[-1] * len(row) for row in rows]
    free = [set(range(len(row))) for row in rows]
    for each in sorted(holders, key=lambda each: (-len(holders[each]), each)):
        open_in = [sum(place in free[n] for n, _ in holders[each]) for place in range(len(rows[0]))]
        place = open_in.index(max(open_in))
        for n, p in holders[each]:
            if places_of[n][p] < 0 and place in free[n]:
                places_of[n][p] = place
                free[n].remove(place)
    rests = [iter(sorted(each)) for each in free]
    return [
        [place if place >= 0 else next(rest) for place in places]
        for places, rest in zip(places_of, rests, strict=True)
    ]


def _chain(rows: list[list[tuple[str, int]]]) -> list[int]:
    """Orders rows greedily: each is followed by the remaining one that has most in common with
    it."""
    code_of = {each: code for code, each in enumerate({each for row in rows for each in row})}
    codes = np.array([[code_of[each] for each in row] for row in rows])
    left = np.ones(len(rows), np.bool_)
    chain = [0]
    while len(chain) < len(rows):
        left[chain[-1]] = False
        common = (codes == codes[chain[-1]]).sum(axis=1)
        chain.append(int(np.where(left, common, -1).argmax()))
    return chain


def _sort_key(condition: Condition) -> tuple[int, str, str, float, str]:
    """Orders comparisons of an attribute with a number by that number, all others by their text."""
    if len(condition) == 1:
        (only,) = condition
        match only:
            case s.Compare(symbol, s.Attribute(_, name), s.Literal(int() | float() as limit)):
                if abs(limit) < 2**1000:
                    return 1, name, symbol, float(limit), repr(limit)
    return (2 if condition else 0), "", "", 0.0, "; ".join(sorted(map(repr, condition)))
