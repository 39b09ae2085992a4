"""An explanation as lines of text: what, then how, then why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from runtime.plan.explain.phrases import joined, shortened

if TYPE_CHECKING:
    from runtime.plan.explain.explanation import (
        Explanation,
        Gap,
        NegationPlan,
        QueryPlan,
        RoutingPlan,
        SetPlan,
        SharePlan,
        StepPlan,
        TypePlan,
        WorkloadPlan,
    )

SHARING = "SHARING (with --numeric float; dynamic unless --sharing says otherwise)"
WAYS = {
    "bursts": "burst by burst, shared where that pays",
    "ordered": "event by event, in one ordered index for all of them",
}
PLAN = "PLAN (before any event was seen; costs are estimates)"
LABEL = 15
LINES = 30  # of transitions, or of operators
SHOWN = 8
TIES = {
    "strict": "events of equal time are never neighbours",
    "arrival": "events of equal time follow each other as they arrived",
}


def as_text(explanation: Explanation) -> str:
    count = len(explanation.queries)
    head = f"{count} {'query' if count == 1 else 'queries'}; {TIES[explanation.ties]}"
    blocks = [[head], *(_query(query, explanation) for query in explanation.queries)]
    blocks.append(
        ["ROUTING (the stream is split once for each line)", *_routing(explanation.routing)]
    )
    blocks.append([SHARING, *_sharing(explanation)])
    if explanation.plan.runs:
        blocks.append([PLAN, *_plan(explanation.plan)])
    else:
        blocks.append([PLAN, "  nothing to plan: no query is evaluated burst by burst"])
    blocks.append(["TEMPLATE", *_types(explanation), "", *_steps(explanation)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


# ---- a query -------------------------------------------------------------------------------


def _query(plan: QueryPlan, explanation: Explanation) -> list[str]:
    lines = [f"QUERY {plan.name}"]
    for label, values in [*_facts(plan), ("sharing", [_share_line(plan, explanation)])]:
        for place, value in enumerate(values):
            lines.append(f"  {label if place == 0 else '':{LABEL}}{value}")
    return lines


def _facts(plan: QueryPlan) -> Iterator[tuple[str, Iterable[str]]]:
    yield "pattern", [plan.pattern]
    yield "returns", [", ".join(plan.returns)]
    yield "semantics", [plan.semantics]
    yield "windows", [plan.window]
    yield "partitions", [_partitions(plan)]
    yield "on events", plan.local
    yield "on neighbours", plan.adjacent
    if plan.least_length > 1:
        yield "length", [f"at least {plan.least_length} events"]
    if plan.having is not None:
        yield "having", [plan.having]
    yield "starts with", [", ".join(plan.starts)]
    yield "then", _followers(plan)
    yield "ends with", [", ".join(plan.ends)]
    yield "never", [_negation(negation) for negation in plan.negations]
    yield "granularity", [plan.granularity, plan.why]
    yield "counted once", [_once(plan)]
    yield "evaluated", [_evaluated(plan), *plan.neighbours]


def _partitions(plan: QueryPlan) -> str:
    if not plan.partition_by:
        return "none: the whole stream is one"
    grouped = f"; a result for each {joined(plan.group_by)}" if plan.group_by else ""
    return f"by {', '.join(plan.partition_by)}{grouped}"


def _followers(plan: QueryPlan) -> list[str]:
    width = max((len(p.type) for p in plan.predecessors), default=0)
    return [f"{p.type:{width}}  after {', '.join(p.before)}" for p in plan.predecessors]


def _negation(negation: NegationPlan) -> str:
    gaps = "; ".join(_gap(gap) for gap in negation.gaps)
    return f"{negation.pattern}  {gaps}{', inside the NOT' if negation.nested else ''}"


def _gap(gap: Gap) -> str:
    if gap.after is None:
        return f"before {gap.before}, from the window's start"
    if gap.before is None:
        return f"after {gap.after}, to the window's end"
    return f"between {gap.after} and {gap.before}"


def _once(plan: QueryPlan) -> str:
    if plan.twice is None:
        return "as it is: a trend fits the pattern in one way only"
    return f"made deterministic: a trend {plan.twice} fits the pattern in two ways"


def _evaluated(plan: QueryPlan) -> str:
    if plan.way == "bursts":
        return "burst by burst: many events of one type in one step"
    return f"event by event, for {joined(plan.obstacles)}"


def _share_line(plan: QueryPlan, explanation: Explanation) -> str:
    if plan.alone is not None:
        return f"alone: {plan.alone}"
    own = [p for group in explanation.sharing for p in group.kleene if plan.name in p.queries]
    if not own:
        group = next(g for g in explanation.sharing if plan.name in g.queries)
        together = [name for name in group.queries if name != plan.name]
        return f"the pass over the events with {shortened(together)}"
    others = [[name for name in part.queries if name != plan.name] for part in own]
    return "; ".join(
        f"{part.pattern} with {shortened(names)}" for part, names in zip(own, others, strict=True)
    )


# ---- the workload --------------------------------------------------------------------------


def _routing(groups: Iterable[RoutingPlan]) -> list[str]:
    rows = [
        (", ".join(g.attributes) or "no partitions", shortened(g.queries, SHOWN)) for g in groups
    ]
    return _aligned(rows)


def _sharing(explanation: Explanation) -> list[str]:
    together = [group for group in explanation.sharing if len(group.queries) > 1]
    alone = [group.queries[0] for group in explanation.sharing if len(group.queries) == 1]
    lines = [line for number, group in enumerate(together, 1) for line in _group(number, group)]
    if alone:
        lines.append(f"  {'alone':{LABEL}}{shortened(alone, SHOWN)}")
    return lines


def _group(number: int, group: SharePlan) -> list[str]:
    split = f"partitions by {joined(group.attributes)}" if group.attributes else "no partitions"
    parts = [(part.pattern, shortened(part.queries, SHOWN)) for part in group.kleene]
    return [
        f"  {f'group {number}':{LABEL}}{shortened(group.queries, SHOWN)}",
        f"  {'':{LABEL}}{group.semantics}, {split}, panes of {group.pane_text}",
        f"  {'':{LABEL}}{WAYS[group.way]}",
        *(f"  {'':{LABEL}}{line}" for line in _cut(group)),
        *(f"  {'':{LABEL - 2}}{line}" for line in _aligned(parts)),
    ]


def _plan(plan: WorkloadPlan) -> list[str]:
    costs = [f"{name} {cost:,.3g}" for name, cost in plan.alternatives.items()]
    lines = [
        ("planner", f"{plan.planner}, since {plan.why}"),
        ("cost", f"{plan.cost:,.3g} ns an event; by other planners: {', '.join(costs)}"),
        *_runs(plan),
        *(("", note) for note in plan.notes),
    ]
    shown = _labelled(lines)
    if plan.transitions:
        shown += _labelled([("transitions", "that queries share; costs in ns an event")])
        shown += _few([(f"{s.source} -> {s.target}", _set(s)) for s in plan.transitions])
    if plan.operators:
        shown += _labelled([("longer parts", "that queries could share as one operator")])
        shown += _few([(each.part, each.why) for each in plan.operators])
    return shown


def _runs(plan: WorkloadPlan) -> Iterator[tuple[str, str]]:
    together = [run for run in plan.runs if len(run.queries) > 1]
    for number, run in enumerate(together, 1):
        yield f"run {number}", f"{shortened(run.queries, SHOWN)}; {run.why}"
    alone = [run.queries[0] for run in plan.runs if len(run.queries) == 1]
    if alone:
        each = "in a run of its own" if len(alone) == 1 else "each in a run of its own"
        yield "alone", f"{shortened(alone, SHOWN)}; {each}"


def _labelled(lines: list[tuple[str, str]]) -> list[str]:
    return [f"  {label:{LABEL}}{text}" for label, text in lines]


def _set(shared: SetPlan) -> str:
    by = f"{shortened(shared.queries, SHOWN)} share it"
    return f"{by}: {shared.why}" if shared.why else by


def _few(rows: list[tuple[str, str]]) -> list[str]:
    lines = [f"  {line}" for line in _aligned(rows[:LINES])]
    if len(rows) > LINES:
        lines.append(f"    and {len(rows) - LINES} more; --format json has them all")
    return lines


def _cut(group: SharePlan) -> Iterator[str]:
    if len(group.parts) > 1:
        too_many = f"more conditions on {joined(group.crowded)} than a kernel can tell apart"
        yield f"cut into {len(group.parts)} parts that share each for itself: {too_many}"


def _types(explanation: Explanation) -> list[str]:
    return _aligned([(t.type, _roles(t)) for t in explanation.template.types])


def _roles(type_: TypePlan) -> str:
    roles = (("starts", type_.starts), ("ends", type_.ends), ("forbidden in", type_.negated))
    said = [f"{role} {shortened(queries, SHOWN)}" for role, queries in roles if queries]
    return "; ".join(said)


def _steps(explanation: Explanation) -> list[str]:
    steps = explanation.template.steps
    width = max((len(step.source) for step in steps), default=0)
    return _aligned([(f"{s.source:{width}} -> {s.target}", _holds(s)) for s in steps])


def _holds(step: StepPlan) -> str:
    notes = [shortened(step.queries, SHOWN)]
    if step.guarded:
        notes.append(f"NOT in between for {shortened(step.guarded, SHOWN)}")
    if step.shared:
        every = len(step.shared) == len(step.queries)
        notes.append("shared" if every else f"shared by {len(step.shared)} of them")
    elif step.kleene:
        notes.append("Kleene")
    return "; ".join(notes)


def _aligned(rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(left) for left, _ in rows), default=0)
    return [f"  {left:{width}}  {right}".rstrip() for left, right in rows]
