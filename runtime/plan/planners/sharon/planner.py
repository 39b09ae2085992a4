"""Plans which sub-sequences the sequences of a workload share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from runtime.plan.planners.sharon.benefit import Rates, benefit_weight
from runtime.plan.planners.sharon.candidates import Candidate, Weight, candidates, sharable
from runtime.plan.planners.sharon.component import ComponentBound, score, solve
from runtime.plan.planners.sharon.conflicts import components
from runtime.plan.planners.sharon.rationale import reasons

SECONDS = 0.25
"""Time limit of the search for an optimal plan. The other steps have no limit."""

OPTIONS = 512
"""The most options to search together. More than that rarely finish in time."""


@dataclass(frozen=True)
class SharonPlan:
    """Which queries share which patterns.

    A query never has two chosen patterns that overlap in it. `greedy` is the score of the plan
    that GWMIN finds without options. `ending` is that of the part of the workload that went
    worst. `reasons` has a line for each candidate.
    """

    chosen: tuple[Candidate, ...]
    score: float
    greedy: float
    ending: ComponentBound
    reasons: tuple[str, ...]

    @property
    def optimal(self) -> bool:
        return self.ending is ComponentBound.OPTIMAL


def plan(
    queries: Mapping[str, Sequence[str]],
    rates: Rates | None = None,
    *,
    weight: Weight | None = None,
    seconds: float = SECONDS,
    options: int = OPTIONS,
    clock: Callable[[], float] = perf_counter,
) -> SharonPlan:
    """Plans a workload: names of queries, and the event types of each in order.

    `weight` says what a pattern gains if given queries share it; by default that is the paper's
    benefit, from `rates`. `options` bounds the subsets of queries that are tried for patterns that
    conflict; with 0 a pattern is shared by all queries that contain it, or by none.
    """
    weight = weight or benefit_weight(queries, rates or {})
    covers = sharable(queries)
    whole = candidates(covers)
    parts = components(covers, whole)
    chosen: list[Candidate] = []
    reason_of: dict[Candidate, str] = {}
    greedy, endings = 0.0, {ComponentBound.OPTIMAL}
    end = clock() + seconds
    for part in parts:
        solved = solve(part, covers, weight, options, lambda: clock() >= end)
        chosen += solved.chosen
        greedy += solved.greedy
        endings.add(solved.ending)
        reason_of.update(zip(part, reasons(part, solved, covers, weight), strict=True))
    chosen.sort()
    ending = max(endings, key=list(ComponentBound).index)
    lines = tuple(reason_of[candidate] for candidate in whole)
    return SharonPlan(tuple(chosen), score(chosen, weight), greedy, ending, lines)
