"""A query as tables of numbers for the kernel. Immutable; `vectors.py` has the run state.

A state is a position of the pattern. As each type has one position, so has each event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from runtime.language.query import Fold, Lane, Query, Semantics

Ints = npt.NDArray[np.int64]

ALWAYS = -(2**63)
MOST_STATES = 62  # sets of them are words


class Plan(NamedTuple):
    """`before[t]`: the states from which an event enters t, as bits. `befores`: the same as lists,
    that of t from `befores[t]` to `befores[t + 1]`. `begins`, `ends`, `goes_on`: whether a trend
    can begin there, end there, be extended from there. `touches`: by lane and state, whether the
    events of the state have a value for it."""

    is_contiguous: int
    within: int
    slide: int
    since: int
    states: int
    sums: int
    extremes: int
    before: Ints
    befores: Ints
    begins: Ints
    ends: Ints
    goes_on: Ints
    sum_touches: Ints
    extreme_touches: Ints


def takes(query: Query, types: Mapping[str, pa.DataType]) -> bool:
    """Where what is extended leaves, partial trends must not be told apart by more than the state
    they are in. Windows of events and the order of texts are left to the general run."""
    named = [position.type for position in query.template.positions]
    return (
        query.semantics is not Semantics.ANY
        and not query.conjunctive
        and not query.adjacent
        and not query.template.negations
        and query.least_length <= 1
        and not query.window.counted
        and len(set(named)) == len(named) <= MOST_STATES
        and all(_is_number(types.get(lane.attribute or "")) for lane in extremes(query))
    )


def sums(query: Query) -> list[Lane]:
    return [lane for lane in query.lanes if lane.fold is Fold.SUM]


def extremes(query: Query) -> list[Lane]:
    return [lane for lane in query.lanes if lane.fold is not Fold.SUM]


def make_plan(query: Query, since: int | None) -> Plan:
    automaton, states = query.template.automaton, len(query.template.positions)
    before = np.zeros(states, np.int64)
    goes_on = np.zeros(states, np.int64)
    for p, t in automaton.edges:
        before[t] |= 1 << p
        goes_on[p] = 1
    return Plan(
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
    """First where the list of each set begins, and where the last ends; then the lists."""
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


def _is_number(data_type: pa.DataType | None) -> bool:
    """As `Batch.order` gives it; texts have ids."""
    return data_type is None or pt.is_primitive(data_type) or pt.is_null(data_type)
