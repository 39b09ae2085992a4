"""MCEP (Kolchinsky and Schuster, VLDB 2019), as hamlet.txt 6.1 has it: two steps, the first shared.

The trends of a part that several patterns have are constructed once for all of them, one at a time
by depth-first search. Then, for each of these queries, every match of what comes before the part
and of what comes after it is joined to it, and each trend is aggregated by itself. A query that has
nothing in common with another is constructed alone.

Generous: what a trend adds to a lane is carried along the search, so that a trend is not gone
through again for each query. Pointers lead from each event to the first that may come after it, not
to all of them. One trend is kept at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.baselines.added import Added
from benchmarks.baselines.answers import answer
from benchmarks.baselines.aseq import nothing
from benchmarks.baselines.decoded import Decoded, Mask, decoded
from benchmarks.baselines.elements import Element, elements, together
from benchmarks.baselines.flattened import relevant
from benchmarks.baselines.mcep_kernel import run
from benchmarks.baselines.mcep_plan import Core, cores
from benchmarks.baselines.peaks import peak
from benchmarks.baselines.slices import Slices, slices
from benchmarks.baselines.system import Answers, Prepared, System, Unsupported
from runtime.language.query import Query, Workload


class Mcep(System):
    name = "mcep"
    about = "builds all trends (common parts of queries once), then aggregates them"
    cannot = "nested Kleene, P | Q, optional parts, adjacent conditions, other semantics"
    generous = (
        "compiled; keeps one trend at a time, together with its aggregates; one pointer covers all "
        "events that may follow"
    )

    def prepare(self, workload: Workload, table: pa.Table) -> Prepared:
        parts = {query.name: _elements(query) for query in workload}
        return _Prepared(decoded(workload, table), parts)


def _elements(query: Query) -> tuple[Element, ...]:
    found = elements(query, Mcep.name)
    if any(each.least == 0 for each in found):
        raise Unsupported(f"query `{query.name}`: mcep has no optional parts")
    return found


@dataclass(frozen=True)
class _Shared:
    """Queries with a core, and what the kernel needs of them."""

    queries: Sequence[Decoded]
    wanted: Mask  #: events of any of the queries
    arrays: tuple[Any, ...]


class _Prepared(Prepared):
    def __init__(self, queries: list[Decoded], parts: dict[str, tuple[Element, ...]]) -> None:
        self._groups = [
            [
                _shared(core, [each for each in group if each.query.name in core.places], parts)
                for core in cores({each.query.name: parts[each.query.name] for each in group})
            ]
            for group in together(queries)
        ]

    def run(self) -> Answers:
        answers: Answers = {}
        self.state_bytes = 0
        for group in self._groups:
            found = slices(group[0].queries[0])
            for each in group:
                answers |= self._core(each, found)
        return answers

    def _core(self, shared: _Shared, found: Slices) -> Answers:
        queries = shared.queries
        picked, begins, ends = relevant(found.order, found.begins, found.ends, shared.wanted)
        width = 1 + max(len(each.query.lanes) for each in queries)
        totals = np.zeros((len(queries), len(found), width))
        for number, each in enumerate(queries):
            totals[number, :, : 1 + len(each.query.lanes)] = nothing(each, len(found))
        held = np.zeros(len(found), np.int64)
        run(queries[0].time, picked, begins, ends, shared.arrays, totals, held)
        self.state_bytes += peak(found.window, held, queries[0].query.window)
        return {
            each.query.name: answer(
                each, found.window, found.slot, totals[number, :, : 1 + len(each.query.lanes)]
            )
            for number, each in enumerate(queries)
        }


def _shared(
    core: Core, queries: Sequence[Decoded], parts: dict[str, tuple[Element, ...]]
) -> _Shared:
    added = Added(queries)
    places = [core.places[each.query.name] for each in queries]
    whole = [parts[each.query.name] for each in queries]
    states = max(map(len, whole))
    lanes = max(len(each.query.lanes) for each in queries)
    repeated = np.zeros((len(queries), states), np.bool_)
    adds = np.full((len(queries), lanes, states), -1, np.int64)
    folds = np.zeros((len(queries), lanes), np.int64)
    #: Lanes of the core, by fold and what they add in each of its states, and those of queries.
    inside: dict[tuple[int, tuple[int, ...]], int] = {}
    inside_of = np.full((len(queries), lanes), -1, np.int64)
    for q, (query, place) in enumerate(zip(queries, places, strict=True)):
        repeated[q, : len(whole[q])] = [each.repeated for each in whole[q]]
        folds[q, : len(query.folds)] = query.folds
        for n, lane in enumerate(query.query.lanes):
            adds[q, n, : len(whole[q])] = [added.row(lane, s) for s in range(len(whole[q]))]
            rows = tuple(adds[q, n, place : place + len(core.part)].tolist())
            if max(rows) >= 0:
                inside_of[q, n] = inside.setdefault((int(folds[q, n]), rows), len(inside))
    arrays = (
        np.array([each.state for each in queries]),
        np.array(places),
        np.array([len(each) for each in whole]),
        len(core.part),
        repeated,
        np.array([len(each.query.lanes) for each in queries]),
        folds,
        adds,
        np.array([fold for fold, _ in inside], np.int64),
        np.array([rows for _, rows in inside], np.int64).reshape(-1, len(core.part)),
        inside_of,
        added.rows,
    )
    wanted = np.logical_or.reduce([each.state >= 0 for each in queries])
    return _Shared(queries, wanted, arrays)
