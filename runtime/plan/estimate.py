"""What a plan costs, in nanoseconds for each event of the stream: the yardstick of all planners.

A run is queries that are evaluated in one pass. It pays for every event that passes, for the
states that the event enters, and, where queries share longer parts, for settling these. The states
are those of the layout that the engine itself would make.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from runtime.language.query import Query
from runtime.plan.cost_coefficients import Prices
from runtime.plan.operators.graphlet.group_split import ALWAYS, fitting
from runtime.plan.operators.graphlet.layout import Layout
from runtime.plan.operators.graphlet.row_class import Form
from runtime.plan.operators.graphlet.shared_subpattern import Part, adjoins, parts_of
from runtime.plan.share_groups import planned_groups
from runtime.plan.sharing_plan import Plan
from runtime.plan.statistics import Statistics
from runtime.template.query_groups import by_window_kind, routing_groups

Run: TypeAlias = tuple[tuple[Query, ...], tuple[Part, ...]]


class Work(NamedTuple):
    """What a run does for an event, on the average, in the units of `Prices`."""

    event: float = 1.0
    enter: float = 0.0
    state: float = 0.0
    repeat: float = 0.0
    settling: float = 0.0
    settle: float = 0.0

    def price(self, prices: Prices) -> float:
        each: list[float] = [getattr(prices, name) for name in self._fields]
        return sum(price * count for price, count in zip(each, self, strict=True))


def runs_of(plan: Plan, queries: Iterable[Query]) -> list[Run]:
    """The runs in which the engine would evaluate queries whose bursts it can share. All others
    cost the same under every plan."""
    found: list[Run] = []
    for routing in routing_groups(queries):
        for alike in by_window_kind(routing.queries):
            for group in planned_groups(alike, plan):
                found += [(fit, parts_of(plan, fit)) for fit in fitting(group)]
    return found


@dataclass
class Estimate:
    """Of plans for one workload. Remembers runs, since plans have many in common."""

    statistics: Statistics
    prices: Prices = field(default_factory=Prices)
    _known: dict[tuple[tuple[str, ...], tuple[Part, ...]], float] = field(default_factory=dict)

    def plan(self, plan: Plan, queries: Sequence[Query]) -> float:
        return sum(self.run(run) for run in runs_of(plan, queries))

    def run(self, run: Run) -> float:
        key = tuple(query.name for query in run[0]), run[1]
        if key not in self._known:
            self._known[key] = work_of(run, self.statistics).price(self.prices)
        return self._known[key]


def work_of(run: Run, statistics: Statistics) -> Work:
    queries, parts = run
    layout = Layout(queries, (ALWAYS,) * len(queries), "dynamic", parts=parts)
    shares = statistics.shares(layout.types)
    enter = state = repeat = 0.0
    for entry in layout.entries:
        form = layout.all_forms[entry.form]
        bursts = shares[entry.type] / statistics.burst(entry.type)
        numbers = 1 + len(form.sums) + len(form.mins)
        stepped = bursts * entry.queries * form.vectors * numbers
        enter += bursts
        if _steps(form, entry.position):
            state += stepped
        else:
            repeat += stepped
    settled = [_settling(part, layout, shares) for part in parts]
    times, products = (sum(each) for each in zip(*settled, strict=True)) if settled else (0.0, 0.0)
    return Work(1.0, enter, state, repeat, times, products)


def _steps(form: Form, position: int) -> bool:
    """Whether a state is entered from one other state, or only begins trends: that is quick."""
    before = len(form.before[position]) + (position in form.first)
    return position not in form.loops and before <= 1


def _settling(part: Part, layout: Layout, shares: Mapping[str, float]) -> tuple[float, float]:
    """How often for each event, and products. A part is settled where an event of a type next to
    it comes, if it has been stepped since the last time."""
    queries = [query for query in layout.queries if query.name in part.queries]
    outside = [type_ for type_ in layout.types if type_ not in part.types]
    touching = [t for t in outside if any(adjoins(query, t, part) for query in queries)]
    stepped = sum(shares[type_] for type_ in part.types)
    touched = sum(shares[type_] for type_ in touching)
    if not touched:
        return 0.0, 0.0
    often = touched * stepped / (touched + stepped)
    columns = len(part.types) + len(part.entered)
    sharing = [
        (form.vectors, sum(layout.queries[n].name in part.queries for n in members))
        for form, members in zip(layout.forms, layout.members, strict=True)
    ]
    vectors = sum(windows * queries for windows, queries in sharing)
    runs = sum(queries > 0 for _, queries in sharing)
    return often * runs, often * len(part.types) * columns * vectors
