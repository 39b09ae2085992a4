"""A stream in pieces, with a watermark after each; engines that are restarted between two pieces,
and queries that come and go there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from engine.judge import Rows, expected, parsed, settings_of, table_of
from oracle.model import query_names
from oracle.random_cases import Case
from plan.coefficients import FREE_PARTS
from runtime.pipeline.engine import Engine
from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.planner import plan as planned
from runtime.plan.sharing_plan import SharingPlan

ALWAYS = -1


@dataclass(frozen=True)
class Life:
    """`cuts` are places in the stream. A query joins at the cut of its number in `joins`
    (ALWAYS: it is there from the start) and leaves at that in `leaves` (ALWAYS: it stays). The
    watermark moves to the last event before a cut, and with `ahead` then to the next one. At each
    cut the engine is given a plan of the next of `planners`, in turn."""

    cuts: tuple[int, ...] = ()
    restart: bool = False
    joins: tuple[int, ...] = ()
    leaves: tuple[int, ...] = ()
    ahead: bool = False
    planners: tuple[str, ...] = ()

    def plan(self, cut: int, engine: Engine) -> SharingPlan | None:
        if not self.planners:
            return None
        planner = self.planners[cut % len(self.planners)]
        # Settling is free at times, so that longer parts are shared, too.
        coefficients = FREE_PARTS if cut % 2 else CostCoefficients()
        return planned(engine.workload, planner, coefficients=coefficients).plan

    def borders(self, rows: int) -> list[int]:
        return [0, *sorted(min(cut, rows) for cut in self.cuts), rows]

    def joining(self, query: int) -> int:
        """The first query stays from the first event to the last."""
        return self._at(self.joins, query)

    def leaving(self, query: int) -> int:
        at = self._at(self.leaves, query)
        return at if at > self.joining(query) else ALWAYS

    def _at(self, places: tuple[int, ...], query: int) -> int:
        known = 0 < query <= len(places) and places[query - 1] < len(self.cuts)
        return places[query - 1] if known else ALWAYS


def named(case: Case) -> Case:
    """With a name for each query, so that it keeps it wherever it stands."""
    pairs = zip(case.queries, query_names(case.queries), strict=True)
    return replace(case, queries=tuple(replace(query, name=name) for query, name in pairs))


def in_order(case: Case) -> pa.Table:
    table = table_of(case)
    return table.take(pc.sort_indices(table["time"]))  # stable


def lived(case: Case, life: Life, options: Mapping[str, str]) -> dict[str, pa.Table]:
    """All results of an engine that goes through this."""
    whole = workload = parsed(case.text)
    for n, query in enumerate(case.queries):
        if life.joining(n) != ALWAYS:
            workload = workload.without_query(query.name)
    settings = settings_of(case, options)
    engine = Engine(workload, **settings)
    table, tables = in_order(case), Tables()
    borders = life.borders(table.num_rows)
    for cut, (start, stop) in enumerate(pairwise(borders)):
        piece = table.slice(start, stop - start)
        tables.collect(engine.process(piece))
        if piece.num_rows:
            tables.collect(engine.advance(piece["time"][-1].as_py()))
        if cut == len(life.cuts):
            break
        if life.ahead and stop < table.num_rows:
            tables.collect(engine.advance(table["time"][stop].as_py()))
        for n, query in enumerate(case.queries):
            if life.joining(n) == cut:
                engine.add(whole[query.name])
            if life.leaving(n) == cut:
                engine.remove(query.name)
        plan = life.plan(cut, engine) if options["numeric"] == "float" else None
        if plan is not None:
            engine.set_plan(plan)
        if life.restart:
            before, engine = engine, Engine(engine.workload, **settings)
            engine.restore(before.checkpoint())
    tables.collect(engine.finish())
    assert engine.late_rows == 0
    return tables.joined()


class Tables:
    """Results, piece by piece."""

    def __init__(self) -> None:
        self._parts: dict[str, list[pa.Table]] = {}

    def collect(self, results: Mapping[str, pa.Table]) -> None:
        for name, table in results.items():
            self._parts.setdefault(name, []).append(table)

    def joined(self) -> dict[str, pa.Table]:
        return {
            name: pa.concat_tables(parts, promote_options="default")
            for name, parts in self._parts.items()
        }


def expected_of_life(case: Case, life: Life) -> dict[str, Rows]:
    """What the enumerator says: of a query that joins late the windows that start after all
    events before, of one that leaves those that the watermark had passed."""
    times = sorted(event.time for event in case.events)
    borders = life.borders(len(times))
    wanted: dict[str, Rows] = {}
    for n, query in enumerate(case.queries):
        joined, left = life.joining(n), life.leaving(n)
        events = case.events
        since = until = None
        if joined != ALWAYS and borders[joined + 1]:
            since = times[borders[joined + 1] - 1] + 1
        if left != ALWAYS:
            place = borders[left + 1] - (0 if life.ahead and borders[left + 1] < len(times) else 1)
            until = times[max(0, place)] if times else 0
        if query.window.unit == "events":
            # Such windows count events, and are full as soon as the last one is taken.
            events = tuple(
                event
                for event in events
                if (since is None or event.time >= since) and (until is None or event.time < until)
            )
            since = until = None
        rows = expected(replace(case, queries=(query,), events=events))[query.name]
        wanted[query.name] = {
            key: row
            for key, row in rows.items()
            if (since is None or key[0] >= since) and (until is None or key[1] <= until)
        }
    return wanted
