"""What a share group consists of, and which of its queries lie side by side in a row.

The layout is the merged template: for each event type the states that its events enter, with the
condition that picks them, and what queries keep of its events.
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
    """A state of queries side by side, `queries` of a form from `place` on, that events of a type
    enter if the condition picks them."""

    type: str
    bit: int
    form: int
    position: int
    place: int
    queries: int


@dataclass(frozen=True)
class GraphletLayout:
    """`since` has, for each query, the earliest start it reports."""

    queries: tuple[Query, ...]
    since: tuple[int, ...]
    sharing: str
    exact: bool = False  #: a kernel for just this workload, or one that many workloads can use
    parts: tuple[SharedSubpattern, ...] = ()

    # ---- what there is ---------------------------------------------------------------------

    @cached_property
    def types(self) -> list[str]:
        return sorted({p.type for q in self.queries for p in q.template.positions})

    @cached_property
    def pane(self) -> int:
        return pane_of(query.window for query in self.queries)

    @property
    def counted(self) -> bool:
        """Whether windows count events; all of a share group do, or none."""
        return self.queries[0].window.counted

    @cached_property
    def conditions(self) -> dict[str, list[Condition]]:
        """For each type the conditions that queries have on it, a bit each. Comparisons with
        numbers are in order, so that those that pick alike are neighbours."""
        found: dict[str, dict[Condition, None]] = {type_: {} for type_ in self.types}
        for query in self.queries:
            for position in query.template.positions:
                found[position.type][condition_of(query, position.index)] = None
        return {type_: sorted(conditions, key=_nested) for type_, conditions in found.items()}

    @cached_property
    def summed(self) -> dict[str, list[LaneInput]]:
        """For each type the columns of which sums are needed."""
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
        found: dict[str, list[Extreme]] = {}
        for type_ in self.types:
            lanes = {
                (lane.attribute or "", lane.fold)
                for lane in self._lanes_of(type_)
                if not is_sum(lane)
            }
            found[type_] = sorted(lanes, key=lambda extreme: (extreme[0], extreme[1].value))
        return found

    def _lanes_of(self, type_: str) -> list[Lane]:
        return [
            lane
            for query in self.queries
            for lane in query.lanes
            if any(query.template.positions[p].type == type_ for p in lane.positions)
        ]

    @cached_property
    def attributes(self) -> list[LaneInput]:
        return sorted({column for columns in self.summed.values() for column in columns})

    @cached_property
    def ordered(self) -> list[Extreme]:
        found = {extreme for extremes in self.extremes.values() for extreme in extremes}
        return sorted(found, key=lambda extreme: (extreme[0], extreme[1].value))

    @cached_property
    def members(self) -> list[list[int]]:
        """The queries that lie side by side, by their numbers: those with the same pattern but
        for names, the same lanes and the same windows, in an order that keeps together those
        that the same events concern."""
        if self.straight:
            return [[number] for number in range(len(self.queries))]
        return [self._side_by_side(members) for members in self._alike]

    @cached_property
    def _alike(self) -> list[list[int]]:
        found: dict[tuple[object, ...], list[int]] = {}
        for number, query in enumerate(self.queries):
            found.setdefault(_form(query), []).append(number)
        return list(found.values())

    @cached_property
    def states(self) -> list[list[int]]:
        """For each query the state of its form where each position is kept. Any order will do, so
        it is one in which queries side by side keep the same type in the same state, wherever in
        their patterns it is: then one step serves them all."""
        found = [list(range(len(query.template.positions))) for query in self.queries]
        if self.straight or self.parts:
            return found
        for members in self._alike:
            picked = [[self._picked(n, p) for p in range(len(found[n]))] for n in members]
            for number, states in zip(members, _matched(picked), strict=True):
                found[number] = states
        return found

    def state(self, entry: StateEntry, position: int | None = None) -> int:
        """Where the queries of an entry keep its position, or another one."""
        position = entry.position if position is None else position
        if entry.form >= len(self.forms):
            return position
        return self.states[self.members[entry.form][entry.place]][position]

    def role(self, entry: StateEntry) -> tuple[object, ...]:
        """What entries of one form and type must have in common to be one."""
        if entry.form >= len(self.forms):
            return (entry.position,)
        return self._role(entry.form, self.members[entry.form][entry.place], entry.position)

    def _role(self, number: int, query: int, position: int) -> tuple[object, ...]:
        form, states = self.forms[number], self.states[query]
        return (
            states[position],
            position in form.first,
            position in form.loops,
            position in form.active,
            tuple((states[p], p in form.active) for p in form.before[position]),
            tuple(position in lane.positions for lane in (*form.sums, *form.mins)),
        )

    def _side_by_side(self, members: list[int]) -> list[int]:
        """Those together whose loops pick the same events; among them, next to each query the one
        that has the most in common with it."""
        found: list[int] = []
        for _, alike in groupby(sorted(members, key=self._concerned), key=self._in_loops):
            numbers = list(alike)
            picked = [[self._picked(n, p) for p in self._positions(n)] for n in numbers]
            found += [numbers[place] for place in _chain(picked)]
        return found

    def _concerned(self, number: int) -> list[tuple[bool, str, int]]:
        """What picks the events of a query, those of its loops first."""
        follow = self._follow(number)
        picked = [self._picked(number, p) for p in follow]
        loops = [p in after for p, after in follow.items()]
        return sorted((not loop, *each) for loop, each in zip(loops, picked, strict=True))

    def _in_loops(self, number: int) -> list[tuple[bool, str, int]]:
        return [each for each in self._concerned(number) if not each[0]]

    def _positions(self, number: int) -> list[int]:
        """The positions of a query by their states."""
        return sorted(range(len(self.states[number])), key=self.states[number].__getitem__)

    def _follow(self, number: int) -> Mapping[int, Collection[int]]:
        return self.queries[number].template.automaton.follow

    def _picked(self, number: int, position: int) -> tuple[str, int]:
        query = self.queries[number]
        type_ = query.template.positions[position].type
        return type_, self.conditions[type_].index(condition_of(query, position))

    @cached_property
    def forms(self) -> list[RowClass]:
        """Those of queries, as `members`."""
        return [RowClass.of_queries(self.queries[each[0]], len(each)) for each in self.members]

    @cached_property
    def all_forms(self) -> list[RowClass]:
        """Also those of longer parts."""
        window = self.queries[0].window
        return [*self.forms, *(RowClass.of_part(part, window) for part in self.parts)]

    # ---- entries ---------------------------------------------------------------------------

    @cached_property
    def entries(self) -> list[StateEntry]:
        return self._entries(lambda picked: picked)

    @cached_property
    def wide_entries(self) -> list[StateEntry]:
        """As if all conditions on a type were one."""
        return self._entries(lambda picked: (picked[0], 0))

    @cached_property
    def tied_entries(self) -> list[StateEntry]:
        """Those of queries alone, also inside of longer parts."""
        return sorted(self._of_queries(lambda picked: picked, inside=True)) if self.parts else []

    def _entries(self, seen_as: Callable[[tuple[str, int]], tuple[str, int]]) -> list[StateEntry]:
        """By type and bit, steps first."""
        found = [*self._of_queries(seen_as, inside=False), *self._of_parts(seen_as)]
        return sorted(
            found,
            key=lambda e: (e.type, e.bit, not self.steps(e), e.form, self.state(e), e.place),
        )

    def _of_queries(
        self, seen_as: Callable[[tuple[str, int]], tuple[str, int]], *, inside: bool
    ) -> list[StateEntry]:
        found = []
        for form, members in enumerate(self.members):
            positions = [self._positions(n) for n in members]
            for state in range(self.forms[form].states):
                kept = [(n, each[state]) for n, each in zip(members, positions, strict=True)]
                picked = [
                    (
                        seen_as(self._picked(n, p)),
                        inside or not self._in_part(n, p),
                        self._role(form, n, p),
                    )
                    for n, p in kept
                ]
                place = 0
                for (key, wanted, _), run in groupby(picked):
                    count = len(list(run))
                    if wanted:
                        found.append(StateEntry(*key, form, kept[place][1], place, count))
                    place += count
        return found

    def _in_part(self, number: int, position: int) -> bool:
        query = self.queries[number]
        type_ = query.template.positions[position].type
        return any(query.name in part.queries and type_ in part.types for part in self.parts)

    def _of_parts(self, seen_as: Callable[[tuple[str, int]], tuple[str, int]]) -> list[StateEntry]:
        found = []
        for n, part in enumerate(self.parts):
            form = len(self.forms) + n
            number = self.number(part.queries[0])
            for place, position in enumerate(part.positions(self.queries[number])):
                key = seen_as(self._picked(number, position))
                found.append(StateEntry(*key, form, place, 0, self.all_forms[form].side))
        return found

    def steps(self, entry: StateEntry) -> bool:
        """Whether events enter a state from one other at most, or only start trends there."""
        form, position = self.all_forms[entry.form], entry.position
        ways = len(form.before[position]) + (position in form.first)
        return position not in form.loops and ways == 1

    def number(self, name: str) -> int:
        """A query's place among the queries."""
        return next(n for n, query in enumerate(self.queries) if query.name == name)

    def concerned(self, type_: str) -> int:
        """How many states of queries events of a type enter."""
        return sum(p.type == type_ for q in self.queries for p in q.template.positions)

    @cached_property
    def repeated(self) -> set[str]:
        """The types that more than one query repeats, by themselves or within a longer part."""
        found = [type_ for query in self.queries for type_ in _repeated(query)]
        return {type_ for type_ in found if found.count(type_) > 1}

    @property
    def straight(self) -> bool:
        """Whether the states are few enough to write out what is done with them."""
        states = sum(len(query.template.positions) for query in self.queries)
        return self.exact and not self.parts and states <= FEW_ENTRIES

    @cached_property
    def fits(self) -> bool:
        """Whether every condition on a type has a bit of a word."""
        return all(len(conditions) <= MOST_CONDITIONS for conditions in self.conditions.values())


def _repeated(query: Query) -> set[str]:
    """The types of the states from which a trend can come back to them."""
    follow = query.template.automaton.follow
    reached = {p: set(after) for p, after in follow.items()}
    for middle in follow:
        for p in follow:
            if middle in reached[p]:
                reached[p] |= reached[middle]
    return {query.template.positions[p].type for p, after in reached.items() if p in after}


def _form(query: Query) -> tuple[object, ...]:
    """What queries must have in common to lie side by side."""
    automaton = query.template.automaton
    return (
        tuple((p, tuple(after)) for p, after in automaton.follow.items()),
        tuple(automaton.first),
        tuple(automaton.last),
        query.lanes,
        query.window,
    )


def _matched(rows: list[list[tuple[str, int]]]) -> list[list[int]]:
    """For each row a place for each of its elements, another one each, so that elements have the
    same place in most rows; those that are in many rows first."""
    holders: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for n, row in enumerate(rows):
        for p, each in enumerate(row):
            holders.setdefault(each, []).append((n, p))
    found = [[-1] * len(row) for row in rows]
    free = [set(range(len(row))) for row in rows]
    for each in sorted(holders, key=lambda each: (-len(holders[each]), each)):
        open_in = [sum(place in free[n] for n, _ in holders[each]) for place in range(len(rows[0]))]
        place = open_in.index(max(open_in))
        for n, p in holders[each]:
            if found[n][p] < 0 and place in free[n]:
                found[n][p] = place
                free[n].remove(place)
    rests = [iter(sorted(each)) for each in free]
    return [
        [place if place >= 0 else next(rest) for place in places]
        for places, rest in zip(found, rests, strict=True)
    ]


def _chain(rows: list[list[tuple[str, int]]]) -> list[int]:
    """The places of rows in an order in which each has as much in common with the one before it as
    any that is left."""
    known = {each: number for number, each in enumerate({each for row in rows for each in row})}
    numbers = np.array([[known[each] for each in row] for row in rows])
    left = np.ones(len(rows), np.bool_)
    found = [0]
    while len(found) < len(rows):
        left[found[-1]] = False
        common = (numbers == numbers[found[-1]]).sum(axis=1)
        found.append(int(np.where(left, common, -1).argmax()))
    return found


def _nested(condition: Condition) -> tuple[int, str, str, float, str]:
    """Orders comparisons of an attribute with a number by that number, all others by their text."""
    if len(condition) == 1:
        (only,) = condition
        match only:
            case s.Compare(symbol, s.Attribute(_, name), s.Literal(int() | float() as limit)):
                if abs(limit) < 2**1000:
                    return 1, name, symbol, float(limit), repr(limit)
    return (2 if condition else 0), "", "", 0.0, "; ".join(sorted(map(repr, condition)))
