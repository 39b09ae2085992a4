"""Optimizers as systems that plan a workload and do not execute it.

Plans use the papers' own costs, with the rates of types in the stream. `figures` has the cost or
the score of the plan. Memory is the peak that Python allocates while planning, traced in a separate
run that is not timed.
"""

from __future__ import annotations

import tracemalloc
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence

import pyarrow as pa

from benchmarks.baselines.ours import counts
from benchmarks.baselines.system import Answers, Prepared, System
from runtime.language.query import Workload
from runtime.plan.planners import gloria, sharon
from runtime.plan.planners.shareable_set import ShareableSet, shareable_sets
from runtime.plan.planners.sharon.benefit import benefit_weight
from runtime.plan.planners.sharon.candidates import Candidate, candidates, sharable
from runtime.plan.planners.sharon.conflicts import ConflictGraph, conflict_graph
from runtime.plan.planners.sharon.finder import ValidPlan, children
from runtime.plan.planners.sharon.greedy import gwmin
from runtime.plan.planners.sharon.options import subsets

Figures = dict[str, float]
Rates = Mapping[str, float]


class Planning(Prepared):
    """The first run is as any other; memory is traced before the second, once it is known that
    planning ends."""

    def __init__(self, work: Callable[[], Figures]) -> None:
        self._work = work
        self._ran = False
        self._traced = False

    def ready(self) -> None:
        if self._ran and not self._traced:
            self.state_bytes = traced(self._work)
            self._traced = True

    def run(self) -> Answers:
        self.figures = self._work()
        self._ran = True
        return {}


def traced(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Optimizer(System):
    """From queries that could share with each other, and the rates of their types, to figures."""

    cannot = "execution: it only plans"

    def prepare(self, workload: Workload, table: pa.Table) -> Planning:
        found = shareable_sets(workload.queries)
        rates = {name: float(count) for name, count in counts(table).items()}
        return Planning(lambda: _sum(self.plan(each, each.rates(rates)) for each in found))

    @abstractmethod
    def plan(self, family: ShareableSet, rates: Rates) -> Figures: ...


def _sum(several: Iterable[Figures]) -> Figures:
    total: Figures = {}
    for each in several:
        for name, value in each.items():
            total[name] = total.get(name, 0.0) + value
    return total


# ---- GLORIA --------------------------------------------------------------------------------


class Gloria(Optimizer):
    name = "plan-gloria"
    about = "GLORIA's optimizer"
    options = gloria.CandidateOptions()
    greedily = False

    def plan(self, family: ShareableSet, rates: Rates) -> Figures:
        found = gloria.plan(family.patterns, rates, options=self.options, greedily=self.greedily)
        return {"plan_cost": found.cost, "nodes": float(found.kept.nodes)}


class NoPrune(Gloria):
    name = "plan-gloria-noprune"
    about = "GLORIA's optimizer without pruning: keeps every node that it generates"
    options = gloria.CandidateOptions(limit=1 << 40, prune=False)


class Greedy(Gloria):
    name = "plan-greedy"
    about = "the greedy optimizer that GLORIA's paper compares with: one node per pool"
    greedily = True


# ---- SHARON --------------------------------------------------------------------------------


class Sharon(Optimizer):
    name = "plan-sharon"
    about = "SHARON's optimizer, for at most a quarter of a second"

    def plan(self, family: ShareableSet, rates: Rates) -> Figures:
        found = sharon.plan(family.sequences, rates)
        return {"plan_score": found.score}


class Gwmin(Optimizer):
    name = "plan-gwmin"
    about = "the greedy optimizer that SHARON's paper compares with: its graph, then GWMIN"

    def plan(self, family: ShareableSet, rates: Rates) -> Figures:
        graph = _graph(family.sequences, rates, lambda each: [each])
        return {"plan_score": graph.score(gwmin(graph, graph.everything))}


class Exhaustive(Optimizer):
    name = "plan-exhaustive"
    about = "the exhaustive optimizer of SHARON's paper: all options, all valid plans"

    def plan(self, family: ShareableSet, rates: Rates) -> Figures:
        """Level by level, as the paper's; that invalid plans are not made at all is generous."""
        graph = _graph(family.sequences, rates, lambda each: list(subsets(each)))
        best, level = 0.0, [ValidPlan(0, 0.0, graph.everything)]
        while level:
            best = max([best, *(each.score for each in level)])
            level = [child for each in level for child in children(graph, each)]
        return {"plan_score": best}


def _graph(
    sequences: Mapping[str, Sequence[str]],
    rates: Rates,
    options: Callable[[Candidate], list[Candidate]],
) -> ConflictGraph:
    weight = benefit_weight(sequences, rates)
    covers = sharable(sequences)
    found = [option for each in candidates(covers) for option in options(each)]
    return conflict_graph(((each, weight(*each)) for each in found), covers)
