"""Plans a workload with the requested planner, or with the one that suits its shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from runtime.errors import check_choice
from runtime.language.parser import parse
from runtime.language.query import Query
from runtime.plan.assignment import KnownTypes, attribute_types, make_physical_plan
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
    """One line on why the plan treats `what` as it does."""

    what: str
    why: str


@dataclass(frozen=True)
class PlannerResult:
    """A sharing plan, the physical plan of the workload under it, the planner that made it, and
    why that planner. `cost` is the estimate in nanoseconds per event; `alternatives` are the costs
    of the other planners' plans, if they were compared. `sets` has a reason for each shared
    transition, `parts` one for each shared sub-pattern that could be one operator."""

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
    coefficients: CostCoefficients | None = None,
    *,
    compare: bool = False,
    version: int = 0,
    types: KnownTypes | None = None,
) -> PlannerResult:
    """`queries` may be the text of a workload, `statistics` the number of events of each type.
    `compare` also estimates the plans of the other planners. `version` numbers the plan. `types`
    are those of the input's columns; others are assumed from the queries."""
    check_choice("planner", planner, NAMES)
    workload = tuple(parse(queries) if isinstance(queries, str) else queries)
    shareable = tuple(query for query in workload if supports(query))
    event_types = sorted({type_ for query in shareable for type_ in query.types})
    complete = Statistics.read(statistics).with_types(event_types)
    estimate = CostEstimate(complete, coefficients or CostCoefficients())
    name, why = choose_planner(shareable) if planner == AUTO else (planner, "it was asked for")
    result = replace(_plan_with(shareable, name, estimate), why=why)
    result = replace(result, plan=replace(result.plan, version=version))
    result = replace(result, physical=physical_plan_of(workload, result.plan, types))
    if not compare:
        return result
    others = [other for other in PLANNERS if other != name]
    costs = {other: _plan_with(shareable, other, estimate).cost for other in others}
    return replace(result, alternatives=costs)


def physical_plan_of(
    queries: Sequence[Query], plan: SharingPlan, types: KnownTypes | None = None
) -> PhysicalPlan:
    """The operators of a workload under a sharing plan. `types` are those of the input's columns,
    as far as they are known."""
    return make_physical_plan(queries, PlanContext(attribute_types(queries, types or {}), plan))


def choose_planner(queries: Sequence[Query]) -> tuple[str, str]:
    """The planner for the shape of a workload whose bursts can be shared, and the reason."""
    shareable = [each for each in shareable_sets(queries) if len(each.queries) > 1]
    if not shareable:
        return "none", "no two queries could share a state"
    loops = [loop for each in shareable for loop in _loops(each)]
    if not loops:
        return "sharon", "its patterns are sequences"
    sequences = any(each.sequences for each in shareable)
    if all(len(loop.types) == 1 for loop in loops) and not sequences:
        return "greedy", "its Kleene parts have one type each, and bursts of them are shared anyway"
    if sequences:
        return "gloria", "some of its patterns repeat parts, others are sequences"
    return "gloria", "its patterns repeat parts of several types"


def extend_plan(
    running: SharingPlan, queries: Sequence[Query], added: Sequence[Query], planner: str = AUTO
) -> SharingPlan:
    """The plan for a workload with added queries. These are planned separately, so that the state
    of all others stays in place until the next re-plan of the whole workload."""
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


def _plan_with(queries: tuple[Query, ...], name: str, estimate: CostEstimate) -> PlannerResult:
    plan = SharingPlan()
    sets: list[str] = []
    parts: list[PlanReason] = []
    notes: list[str] = []
    for shareable in shareable_sets(queries):
        draft = PLANNERS[name](shareable, estimate.statistics, estimate.coefficients)
        here = tuple(q for q in queries if q.partition_by == shareable.partition_by)
        here = tuple(q for q in here if q.window.kind == shareable.window_kind)
        set_plan, why = _plan_of_draft(shareable, here, draft, estimate)
        plan = replace(
            plan,
            shared=(*plan.shared, *set_plan.shared),
            groups=(*plan.groups, *set_plan.groups),
            transitions=(*plan.transitions, *set_plan.transitions),
        )
        sets += draft.reasons
        parts += why
        notes += draft.notes
    cost = estimate.plan(plan, queries)
    return PlannerResult(
        plan, name, "", cost, sets=tuple(sets), parts=tuple(parts), notes=tuple(notes)
    )


def _plan_of_draft(
    shareable: ShareableSet, queries: tuple[Query, ...], draft: PlanDraft, estimate: CostEstimate
) -> tuple[SharingPlan, list[PlanReason]]:
    """A draft as a plan: with groups of all queries and only the shared sub-patterns that pay."""
    plan = SharingPlan(
        transitions=draft.sets, groups=() if draft.links else _names_of(_alone(queries))
    )
    plan = replace(plan, groups=_names_of(planned_groups(queries, plan)))
    if draft.passes:
        plan = _one_pass(plan, queries, estimate)
    candidates, refused = accept_parts(shareable, draft.parts)
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
    """Whether a shared sub-pattern pays. The other queries of its group make no difference."""
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


def _loops(shareable: ShareableSet) -> list[KleeneLoop]:
    parts = [part for pattern in shareable.patterns.values() for part in flat(pattern)]
    return [part for part in parts if isinstance(part, KleeneLoop)]
