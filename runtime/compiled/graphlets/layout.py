"""Where everything of a share group lies: its row, and the tables that its kernel reads.

The tables are the merged template: for each event type the states that its events enter, each
with the states before it, the condition that picks its events, and what its lanes take from a
burst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import gcd
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from runtime.compiled.codes import TypeCodes
from runtime.compiled.conditions import canonical
from runtime.compiled.graphlets import kernel as k
from runtime.compiled.graphlets import straight
from runtime.compiled.graphlets.sizes import (
    block_size,
    is_sum,
    mins_of,
    open_windows,
    state_size,
    sums_of,
)
from runtime.compiled.specialise import is_compiled, specialised
from runtime.language import syntax as s
from runtime.language.query import Fold, Lane, Query, Semantics
from runtime.plain.machine import needs_subsets

MOST_CONDITIONS = 64
STRAIGHT_ENTRIES = 16
SHAPE = ("ATTRS", "MINS", "LANES", "BUFFERS", "SLIDING", "STRAIGHT", "UNROLLED")

Condition: TypeAlias = frozenset[s.Expression]
Extreme: TypeAlias = tuple[str, Fold]


def takes(query: Query) -> bool:
    """Whether bursts of this query are closed-form operators: under skip-till-any-match, where
    an event enters each state by itself, and no state that an event enters feeds another one
    that the same event enters."""
    template = query.template
    if (
        query.semantics is not Semantics.ANY
        or query.conjunctive
        or query.adjacent
        or template.negations
        or query.least_length > 1
        or query.window.counted
        or needs_subsets(query)
    ):
        return False
    type_of = [p.type for p in template.positions]
    return all(p == q or type_of[p] != type_of[q] for p, q in template.automaton.edges)


class Entry(NamedTuple):
    """A state of queries side by side, `queries` of a form from `place` on, that events of a type
    enter if the condition picks them."""

    type: str
    bit: int
    form: int
    position: int
    place: int
    queries: int


@dataclass(frozen=True)
class Layout:
    """The share group's tables. `since` has, for each query, the earliest start it reports."""

    queries: tuple[Query, ...]
    since: tuple[int, ...]
    sharing: str
    exact: bool = False  #: a kernel for just this workload, or one that many workloads can use

    # ---- what there is ---------------------------------------------------------------------

    @cached_property
    def types(self) -> list[str]:
        return sorted({p.type for q in self.queries for p in q.template.positions})

    @cached_property
    def pane(self) -> int:
        return gcd(*(n for q in self.queries for n in (q.window.within, q.window.slide)))

    @cached_property
    def conditions(self) -> dict[str, list[Condition]]:
        """For each type the conditions that queries have on it, a bit each."""
        found: dict[str, list[Condition]] = {type_: [] for type_ in self.types}
        for query in self.queries:
            for position in query.template.positions:
                condition = _condition(query, position.index)
                if condition not in found[position.type]:
                    found[position.type].append(condition)
        return found

    @cached_property
    def summed(self) -> dict[str, list[str]]:
        """For each type the attributes of which sums are needed."""
        return {
            type_: sorted(
                {
                    lane.attribute
                    for lane in self._lanes_of(type_)
                    if is_sum(lane) and lane.attribute is not None
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
    def attributes(self) -> list[str]:
        return sorted({name for names in self.summed.values() for name in names})

    @cached_property
    def ordered(self) -> list[Extreme]:
        found = {extreme for extremes in self.extremes.values() for extreme in extremes}
        return sorted(found, key=lambda extreme: (extreme[0], extreme[1].value))

    @cached_property
    def forms(self) -> list[list[int]]:
        """The queries that lie side by side, by their numbers: those with the same pattern but
        for names, the same lanes and the same windows, in an order that keeps together those
        that the same events concern."""
        if self.exact and self._is_small:
            return [[number] for number in range(len(self.queries))]
        found: dict[tuple[object, ...], list[int]] = {}
        for number, query in enumerate(self.queries):
            found.setdefault(_form(query), []).append(number)
        return [sorted(members, key=self._concerned) for members in found.values()]

    @property
    def _is_small(self) -> bool:
        return sum(len(query.template.positions) for query in self.queries) <= STRAIGHT_ENTRIES

    def _concerned(self, number: int) -> list[tuple[bool, str, int]]:
        """What picks the events of a query, those of its loops first."""
        follow = self.queries[number].template.automaton.follow
        picked = [self._picked(number, p) for p in follow]
        loops = [p in after for p, after in follow.items()]
        return sorted((not loop, *each) for loop, each in zip(loops, picked, strict=True))

    def _picked(self, number: int, position: int) -> tuple[str, int]:
        query = self.queries[number]
        type_ = query.template.positions[position].type
        return type_, self.conditions[type_].index(_condition(query, position))

    def form(self, form: int) -> Query:
        """One of the queries of a form, to tell what they have in common."""
        return self.queries[self.forms[form][0]]

    @cached_property
    def entries(self) -> list[Entry]:
        return self._entries(lambda picked: picked)

    @cached_property
    def wide_entries(self) -> list[Entry]:
        """As if all conditions on a type were one."""
        return self._entries(lambda picked: (picked[0], 0))

    def _entries(self, seen_as: Callable[[tuple[str, int]], tuple[str, int]]) -> list[Entry]:
        found = []
        for form, members in enumerate(self.forms):
            for position in range(len(self.form(form).template.positions)):
                picked = [seen_as(self._picked(number, position)) for number in members]
                place = 0
                for key, run in groupby(picked):
                    count = len(list(run))
                    found.append(Entry(*key, form, position, place, count))
                    place += count
        return sorted(found)

    # ---- the shape -------------------------------------------------------------------------

    @property
    def buffers(self) -> bool:
        return self.sharing == "never" or any(
            len(c) > 1 or any(c[0]) for c in self.conditions.values()
        )

    @cached_property
    def shape(self) -> dict[str, int]:
        """Constants of the kernel: just large enough, or of the few that all others use."""
        most_sums = max(len(names) for names in self.summed.values())
        most_mins = max(
            *(len(extremes) for extremes in self.extremes.values()),
            *(len(mins_of(query)) for query in self.queries),
        )
        most_lanes = max(len(sums_of(query)) for query in self.queries)
        sliding = any(q.window.within > q.window.slide for q in self.queries)
        if self.exact:
            sizes = (most_sums, most_mins, most_lanes, self.buffers, sliding, self._is_small, True)
        else:
            size = 4
            while size < max(most_sums, most_mins, -(-most_lanes // 2)):
                size *= 4
            sizes = (size, size, 2 * size, True, True, False, False)
        return dict(zip(SHAPE, sizes, strict=True))

    @cached_property
    def fits(self) -> bool:
        """Whether every condition on a type has a bit of a word."""
        return all(len(conditions) <= MOST_CONDITIONS for conditions in self.conditions.values())

    # ---- the row ---------------------------------------------------------------------------

    @cached_property
    def kernel(self) -> ModuleType:
        """The kernel of this shape, with the places of a row's words."""
        return specialised(Path(k.__file__), tuple(self.shape.items()), self._straight)

    @property
    def is_compiled(self) -> bool:
        """Whether this kernel was compiled on this machine before."""
        return is_compiled(Path(k.__file__), tuple(self.shape.items()), self._straight)

    @cached_property
    def _straight(self) -> str:
        return straight.source(self) if self.shape["STRAIGHT"] else ""

    @cached_property
    def vectors_at(self) -> list[int]:
        """Where the vectors of each form's windows begin, from the first word after the head."""
        sizes = [open_windows(self.form(n)) * self.form_block(n) for n, _ in enumerate(self.forms)]
        return [int(n) for n in np.cumsum([0, *sizes])]

    def form_block(self, form: int) -> int:
        """The words of a vector of all queries of a form."""
        return block_size(self.form(form)) * len(self.forms[form])

    @cached_property
    def windows_at(self) -> list[int]:
        return [self.kernel.STATES_AT + n for n in self.vectors_at]

    @cached_property
    def columns_at(self) -> list[int]:
        """Where the columns of each form's pane operator begin; 0 for forms without."""
        at, found = self.windows_at[-1], []
        for n, _ in enumerate(self.forms):
            query = self.form(n)
            columns = len(query.template.positions) + 1
            pays = open_windows(query) > columns
            found.append(at if pays else 0)
            at += columns * self.form_block(n) if pays else 0
        return [*found, at]

    def words(self, query: Query) -> slice:
        """The words of all windows of a query: by window, state and lane."""
        number = self.queries.index(query)
        form = next(n for n, members in enumerate(self.forms) if number in members)
        place = self.forms[form].index(number)
        end = self.windows_at[form + 1]
        return slice(self.windows_at[form] + place, end, len(self.forms[form]))

    @property
    def width(self) -> int:
        return self.columns_at[-1]

    # ---- the tables ------------------------------------------------------------------------

    def local(self, codes: TypeCodes) -> npt.NDArray[np.int64]:
        """The place of each type's code among this group's types, -1 for other types; the last
        one is for types that nobody asked for."""
        places = {codes.code(type_): place for place, type_ in enumerate(self.types)}
        return np.array([*(places.get(code, -1) for code in range(len(codes))), -1], np.int64)

    def tables(self) -> npt.NDArray[np.int64]:
        shape = self.shape
        tables = _Tables()
        tables.words[k.T_TYPES], tables.words[k.T_FORMS] = len(self.types), len(self.forms)
        tables.add(k.T_FULL, [_all_bits(len(self.conditions[t])) for t in self.types])
        attrs = [[self.attributes.index(a) for a in self.summed[t]] for t in self.types]
        tables.add(k.T_ATTRS, _counted(attrs, shape["ATTRS"]))
        mins = [[self.ordered.index(x) for x in self.extremes[t]] for t in self.types]
        tables.add(k.T_MINS, _counted(mins, shape["MINS"]))
        order = [number for members in self.forms for number in members]
        tables.add(k.T_NUMBERS, order)
        tables.add(k.T_SINCE, [self.since[number] for number in order])
        lasts = [tables.add(k.T_LASTS, self._lasts(n)) for n, _ in enumerate(self.forms)]
        forms = [word for n, span in enumerate(lasts) for word in self._form_words(n, span)]
        forms_at, _ = tables.add(k.T_FORM, forms)
        entries_at = self._add_entries(tables, self.entries, forms_at)
        wide_at = self._add_entries(tables, self.wide_entries, forms_at)
        tables.words[k.T_ENTRIES] = entries_at
        tables.add(k.T_WIDE, [word for t in self.types for word in self._wide(t, wide_at)])
        bits = [word for t in self.types for word in self._bits(t, entries_at)]
        tables.add(k.T_BITS, bits)
        return np.array(tables.words, np.int64)

    def _add_entries(self, tables: _Tables, entries: list[Entry], forms_at: int) -> int:
        preds = [tables.add(k.T_PREDS, self._preds(entry)) for entry in entries]
        words = [
            word
            for entry, span in zip(entries, preds, strict=True)
            for word in self._entry_words(entry, span, forms_at)
        ]
        begin, _ = tables.add(k.T_ENTRIES, words)
        return begin

    def _wide(self, type_: str, wide_at: int) -> list[int]:
        """Where the wide entries of a type begin and end."""
        mine = [n for n, entry in enumerate(self.wide_entries) if entry.type == type_]
        return [wide_at + mine[0] * self._entry_size, wide_at + (mine[-1] + 1) * self._entry_size]

    @property
    def _entry_size(self) -> int:
        return k.E_LANES + self.shape["LANES"] + self.shape["MINS"]

    def _lasts(self, form: int) -> list[int]:
        query = self.form(form)
        return [self._state_at(form, p) for p in query.template.automaton.last]

    def _preds(self, entry: Entry) -> list[int]:
        """The states before an entry's, itself left out."""
        follow = self.form(entry.form).template.automaton.follow
        before = [p for p, after in follow.items() if entry.position in after]
        return [self._state_at(entry.form, p) for p in before if p != entry.position]

    def _state_at(self, form: int, position: int) -> int:
        return position * state_size(self.form(form)) * len(self.forms[form])

    def _bits(self, type_: str, entries_at: int) -> list[int]:
        """Where the entries of each bit begin, where the last ones end, and all their queries."""
        mine = [entry for entry in self.entries if entry.type == type_]
        first = self.entries.index(mine[0])
        begins = [first + sum(entry.bit < d for entry in mine) for d in range(65)]
        return [
            *(entries_at + n * self._entry_size for n in begins),
            sum(entry.queries for entry in mine),
        ]

    def _form_words(self, form: int, lasts: tuple[int, int]) -> list[int]:
        query, window = self.form(form), self.form(form).window
        return [
            self.windows_at[form],
            self.columns_at[form],
            open_windows(query),
            len(query.template.positions),
            len(sums_of(query)),
            len(mins_of(query)),
            window.within,
            window.slide,
            *lasts,
            self.form_block(form),
            window.within % window.slide == 0,
            len(self.forms[form]),
            sum(len(members) for members in self.forms[:form]),
        ]

    def _entry_words(self, entry: Entry, preds: tuple[int, int], forms_at: int) -> list[int]:
        query, p = self.form(entry.form), entry.position
        automaton = query.template.automaton
        lanes = [self.sum_part(entry.type, p, lane) for lane in sums_of(query)]
        mins = [self.min_part(entry.type, p, lane) for lane in mins_of(query)]
        return [
            self._state_at(entry.form, p),
            p in automaton.follow[p],
            p in automaton.first,
            entry.bit,
            forms_at + entry.form * k.F_SIZE,
            *preds,
            entry.place,
            entry.queries,
            *_padded([lanes], self.shape["LANES"], 0),
            *_padded([mins], self.shape["MINS"]),
        ]

    def sum_part(self, type_: str, position: int, lane: Lane) -> int:
        if position not in lane.positions:
            return k.NOTHING
        if lane.attribute is None:
            return k.EVENTS_OF
        return 2 + 2 * self.summed[type_].index(lane.attribute) + lane.ones

    def min_part(self, type_: str, position: int, lane: Lane) -> int:
        if position not in lane.positions:
            return -1
        return self.extremes[type_].index((lane.attribute or "", lane.fold))


class _Tables:
    """Words that grow by tables; the first words tell where each begins."""

    def __init__(self) -> None:
        self.words = [0] * 16

    def add(self, name: int, words: Sequence[int]) -> tuple[int, int]:
        self.words[name] = begin = len(self.words)
        self.words += words
        return begin, len(self.words)


def _padded(rows: list[list[int]], width: int, filler: int = -1) -> list[int]:
    return [n for row in rows for n in [*row, *[filler] * (width - len(row))]]


def _counted(rows: list[list[int]], width: int) -> list[int]:
    """As `_padded`, each row after its length."""
    return _padded([[len(row), *row] for row in rows], width + 1)


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


def _condition(query: Query, position: int) -> Condition:
    return frozenset(canonical(c.expression) for c in query.local if position in c.positions)


def _all_bits(count: int) -> int:
    """The lowest bits, as a signed word."""
    return (1 << count) - 1 if count < 64 else -1
