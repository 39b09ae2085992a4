"""Plans a workload: by the planner that is asked for, or the one that fits its shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from runtime.errors import HamletError, did_you_mean
from runtime.language.parser import parse
from runtime.language.query import Query
from runtime.plan.assignment import assumed_types, make_physical_plan
from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.estimate import CostEstimate
from runtime.plan.operators.declaration import PlanContext
from runtime.plan.operators.graphlet.eligibility import supports
from runtime.plan.physical_plan import PhysicalPlan
from runtime.plan.planners.gloria.patterns import KleeneLoop, flat
from runtime.plan.planners.lowering import accept_parts
from runtime.plan.planners.registry import PLANNERS, PlanDraft
from runtime.plan.planners.shareable_set import ShareableSet, shareable_sets
from runtime.plan.share_groups import planned_groups
from runtime.plan.sharing_plan import SharedPart, SharingPlan
from runtime.plan.statistics import Statistics

AUTO = "auto"
NAMES = (AUTO, *PLANNERS)


class PlanReason(NamedTuple):
    """Why something is as it is, in one line."""

    what: str
    why: str


@dataclass(frozen=True)
class PlannerResult:
    """A sharing plan and the physical plan of the workload under it, by which planner, and why by
    that one. `cost` is what it is estimated to take, in
    nanoseconds for each event; `alternatives` are the costs of the other planners' plans, if they
    were asked. `sets` says why of each shared transition, `parts` of each longer part that could
    be one operator."""

    plan: SharingPlan
    planner: str
    why: str
    cost: float
    physical: PhysicalPlan = field(default_factory=PhysicalPlan)
    alternatives: Mapping[str, float] = field(default_factory=dict)
    sets: tuple[str, ...] = ()
    parts: tuple[PlanReason, ...] = ()
    notes: tuple[str, ...] = ()


def plan(
    queries: Iterable[Query] | str,
    planner: str = AUTO,
    statistics: Statistics | Mapping[str, float] | None = None,
    prices: CostCoefficients | None = None,
    *,
    compare: bool = False,
    version: int = 0,
) -> PlannerResult:
    """Queries may be the text of a workload, statistics the events of each type. `compare`: what
    the other planners would come to is worked out, too."""
    if planner not in NAMES:
        raise HamletError(f"there is no planner `{planner}`", did_you_mean(planner, NAMES))
    workload = tuple(parse(queries) if isinstance(queries, str) else queries)
    given = tuple(query for query in workload if supports(query))
    types = sorted({type_ for query in given for type_ in query.types})
    known = Statistics.read(statistics).including(types)
    estimate = CostEstimate(known, prices or CostCoefficients())
    name, why = choose(given) if planner == AUTO else (planner, "it was asked for")
    found = replace(_planned(given, name, estimate), why=why)
    found = replace(found, plan=replace(found.plan, version=version))
    found = replace(found, physical=physical_plan_of(workload, found.plan))
    if not compare:
        return found
    others = [other for other in PLANNERS if other != name]
    costs = {other: _planned(given, other, estimate).cost for other in others}
    return replace(found, alternatives=costs)


def physical_plan_of(queries: Sequence[Query], plan: SharingPlan) -> PhysicalPlan:
    """The operators of a workload under a sharing plan, before its input is known."""
    return make_physical_plan(queries, PlanContext(assumed_types(queries), plan))


def choose(queries: Sequence[Query]) -> tuple[str, str]:
    """By the shape of a workload whose bursts can be shared."""
    found = [family for family in shareable_sets(queries) if len(family.queries) > 1]
    if not found:
        return "none", "no two queries could share a state"
    loops = [loop for family in found for loop in _loops(family)]
    if not loops:
        return "sharon", "its patterns are sequences"
    if all(len(loop.types) == 1 for loop in loops) and not any(f.sequences for f in found):
        return "greedy", "its Kleene parts have one type each, and bursts of them are shared anyway"
    if any(family.sequences for family in found):
        return "gloria", "some of its patterns repeat parts, others are sequences"
    return "gloria", "its patterns repeat parts of several types"


def extended(
    running: SharingPlan, queries: Sequence[Query], added: Sequence[Query], planner: str = AUTO
) -> SharingPlan:
    """The plan for a workload to which some queries were added: these are planned by themselves,
    so that the state of all others stays where it is, until the whole is planned again."""
    names = {query.name for query in added}
    before = [query for query in queries if query.name not in names]
    fresh = plan(added, planner).plan
    settled = _names_of(planned_groups([q for q in before if supports(q)], running))
    return replace(
        running,
        shared=(*running.shared, *fresh.shared),
        groups=(*settled, *fresh.groups),
        transitions=(*running.transitions, *fresh.transitions),
    )


def _planned(queries: tuple[Query, ...], name: str, estimate: CostEstimate) -> PlannerResult:
    plan = SharingPlan()
    sets: list[str] = []
    parts: list[PlanReason] = []
    notes: list[str] = []
    for family in shareable_sets(queries):
        draft = PLANNERS[name](family, estimate.statistics, estimate.prices)
        here = tuple(q for q in queries if q.partition_by == family.partition_by)
        here = tuple(q for q in here if q.window.kind == family.window_kind)
        found, why = _settled(family, here, draft, estimate)
        plan = replace(
            plan,
            shared=(*plan.shared, *found.shared),
            groups=(*plan.groups, *found.groups),
            transitions=(*plan.transitions, *found.transitions),
        )
        sets += draft.reasons
        parts += why
        notes += draft.notes
    cost = estimate.plan(plan, queries)
    return PlannerResult(
        plan, name, "", cost, sets=tuple(sets), parts=tuple(parts), notes=tuple(notes)
    )


def _settled(
    family: ShareableSet, queries: tuple[Query, ...], draft: PlanDraft, estimate: CostEstimate
) -> tuple[SharingPlan, list[PlanReason]]:
    """A draft as a plan: with groups of all queries, and only those longer parts that pay."""
    plan = SharingPlan(
        transitions=draft.sets, groups=() if draft.links else _names_of(_alone(queries))
    )
    plan = replace(plan, groups=_names_of(planned_groups(queries, plan)))
    if draft.passes:
        plan = _one_pass(plan, queries, estimate)
    candidates, refused = accept_parts(family, draft.parts)
    reasons = [PlanReason(str(part), f"step by step: {why}") for part, why in refused]
    parts: list[SharedPart] = []
    for part in candidates:
        pays, why = _pays(part, queries, estimate)
        reasons.append(PlanReason(str(part), why))
        parts += [part] if pays else []
    return replace(plan, shared=tuple(parts)), reasons


def _one_pass(plan: SharingPlan, queries: tuple[Query, ...], estimate: CostEstimate) -> SharingPlan:
    together = replace(plan, groups=(tuple(query.name for query in queries),))
    return min(together, plan, key=lambda each: estimate.plan(each, queries))


def _pays(part: SharedPart, queries: tuple[Query, ...], estimate: CostEstimate) -> tuple[bool, str]:
    """Other queries of the group do not change what it is worth."""
    names = set(part.queries)
    sharing = [query for query in queries if query.name in names]
    alone = SharingPlan(groups=(part.queries,))
    without = estimate.plan(alone, sharing)
    shared = estimate.plan(replace(alone, shared=(part,)), sharing)
    if shared < without:
        return True, f"as one operator: costs {shared:.3g}, step by step it would be {without:.3g}"
    return False, f"step by step: costs {without:.3g}, as one operator it would be {shared:.3g}"


def _alone(queries: Iterable[Query]) -> list[tuple[Query, ...]]:
    return [(query,) for query in queries]


def _names_of(groups: Iterable[Iterable[Query]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(query.name for query in group) for group in groups)


def _loops(family: ShareableSet) -> list[KleeneLoop]:
    parts = [part for pattern in family.patterns.values() for part in flat(pattern)]
    return [part for part in parts if isinstance(part, KleeneLoop)]
