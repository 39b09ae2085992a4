"""A row class: contiguous columns of a row, of queries with the same shape or a shared part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from runtime.language.query import Lane, Query
from runtime.language.window import Window
from runtime.plan.operators.graphlet.row_width import mins_of, open_windows, sums_of
from runtime.plan.operators.graphlet.shared_subpattern import SharedSubpattern


@dataclass(frozen=True)
class RowClass:
    """`before` has, for each state, the other states that feed it; `loops` are the states that
    feed themselves; trends start in `first` and end in `last`. `side` columns are contiguous, in
    `vectors` vectors."""

    before: tuple[tuple[int, ...], ...]
    loops: frozenset[int]
    first: frozenset[int]
    last: tuple[int, ...]
    sums: tuple[Lane, ...]
    mins: tuple[Lane, ...]
    window: Window
    vectors: int
    side: int

    @classmethod
    def of_queries(cls, query: Query, side: int) -> RowClass:
        """The class of `side` queries with the same shape as `query`."""
        automaton = query.template.automaton
        states = range(len(query.template.positions))
        before = tuple(
            tuple(p for p, after in automaton.follow.items() if state in after and p != state)
            for state in states
        )
        return cls(
            before,
            frozenset(p for p, after in automaton.follow.items() if p in after),
            frozenset(automaton.first),
            tuple(automaton.last),
            tuple(sums_of(query)),
            tuple(mins_of(query)),
            query.window,
            open_windows(query),
            side,
        )

    @classmethod
    def of_part(cls, part: SharedSubpattern, window: Window) -> RowClass:
        """A state for each type, then one for each entry into the part; as many columns."""
        inside = len(part.types)
        places = {type_: place for place, type_ in enumerate(part.types)}
        edges = {(places[one], places[other]) for one, other in part.transitions}
        before = [
            (
                *(p for p in range(inside) if (p, state) in edges and p != state),
                *(inside + n for n, entered in enumerate(part.entered) if entered == state),
            )
            for state in range(inside)
        ]
        return cls(
            (*before, *((),) * len(part.entered)),
            frozenset(p for p in range(inside) if (p, p) in edges),
            frozenset(),
            (),
            part.sums,
            part.mins,
            window,
            1,
            inside + len(part.entered),
        )

    @cached_property
    def active(self) -> frozenset[int]:
        """The states whose sums can be non-zero: an event in or before them adds to a sum."""
        found = {position for lane in self.sums for position in lane.positions}
        while True:
            more = {q for q, before in enumerate(self.before) if found & set(before)} - found
            if not more:
                return frozenset(found)
            found |= more

    @property
    def states(self) -> int:
        return len(self.before)

    @property
    def state_size(self) -> int:
        """The words of a state: count, sums and minima of all contiguous columns."""
        return (1 + len(self.sums) + len(self.mins)) * self.side

    @property
    def block(self) -> int:
        """The words of a vector."""
        return self.states * self.state_size
