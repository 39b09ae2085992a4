"""Turns a query into the tables of the next-match kernel."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from runtime.execution.operators.next_match.tables import ALWAYS, Ints, NextMatchTables
from runtime.language.query import Lane, Query, Semantics
from runtime.plan.operators.next_match import extremes, sums


def build_tables(query: Query, since: int | None) -> NextMatchTables:
    """Windows that start before `since` are not reported."""
    automaton, states = query.template.automaton, len(query.template.positions)
    before = np.zeros(states, np.int64)
    goes_on = np.zeros(states, np.int64)
    for p, t in automaton.edges:
        before[t] |= 1 << p
        goes_on[p] = 1
    return NextMatchTables(
        is_contiguous=int(query.semantics is Semantics.CONTIGUOUS),
        within=query.window.within,
        slide=query.window.slide,
        since=ALWAYS if since is None else since,
        states=states,
        sums=len(sums(query)),
        extremes=len(extremes(query)),
        before=before,
        befores=_listed(before),
        begins=_marked(states, automaton.first),
        ends=_marked(states, automaton.last),
        goes_on=goes_on,
        sum_touches=_touches(states, sums(query)),
        extreme_touches=_touches(states, extremes(query)),
    )


def _listed(sets: Ints) -> Ints:
    """First the start of the list of each set and the end of the last; then the lists."""
    lists = [[p for p in range(len(sets)) if each >> p & 1] for each in sets.tolist()]
    places = np.cumsum([len(sets) + 1, *map(len, lists)])
    return np.concatenate([places, [p for each in lists for p in each]]).astype(np.int64)


def _touches(states: int, lanes: list[Lane]) -> Ints:
    rows = [_marked(states, lane.positions) for lane in lanes]
    return np.array(rows, np.int64).reshape(-1, states)


def _marked(size: int, places: Iterable[int]) -> Ints:
    found = np.zeros(size, np.int64)
    found[list(places)] = 1
    return found
