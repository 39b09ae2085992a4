"""Prints an explanation as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from runtime.plan.explain.phrases import joined, shortened

if TYPE_CHECKING:
    from runtime.plan.explain.explanation_sections import (
        ExplanationSections,
        Gap,
        InputSection,
        NegationPlan,
        OperatorPlan,
        QueryPlan,
        RoutingPlan,
        SetPlan,
        SharingPlanSection,
        StepPlan,
        TypePlan,
    )

PHYSICAL_PLAN = "PHYSICAL PLAN (with --numeric float; sharing is dynamic unless --sharing is given)"
SHARING_PLAN = "SHARING PLAN (before any event is seen; costs are estimates)"
INPUT_PLAN = "SPARK'S PLAN OF THE INPUT"
LABEL = 15
LINES = 30  # the most lines of transitions or of operators
SHOWN = 8
TIES = {
    "strict": "events of equal time are never adjacent",
    "arrival": "events of equal time follow each other as they arrived",
}


def as_text(explanation: ExplanationSections) -> str:
    count = len(explanation.queries)
    head = f"{count} {'query' if count == 1 else 'queries'}; {TIES[explanation.ties]}"
    if explanation.assumed_types:
        names = shortened(explanation.assumed_types, SHOWN)
        head += f"; attribute types assumed from the queries: {names}"
    blocks = [[head], *(_query(query, explanation) for query in explanation.queries)]
    blocks.append(
        ["ROUTING (the stream is split once for each line)", *_routing(explanation.routing)]
    )
    blocks.append([PHYSICAL_PLAN, *_physical_plan(explanation.operators)])
    planned = explanation.plan.operator
    if any(each.operator == planned for each in explanation.operators):
        blocks.append([SHARING_PLAN, *_sharing_plan(explanation.plan)])
    else:
        blocks.append([SHARING_PLAN, f"  nothing to plan: no query uses the {planned} operator"])
    blocks.append(["TEMPLATE", *_types(explanation), "", *_steps(explanation)])
    if explanation.input is not None:
        blocks.append(_input(explanation.input))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


# ---- a query -------------------------------------------------------------------------------


def _query(plan: QueryPlan, explanation: ExplanationSections) -> list[str]:
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
    yield "adjacent", plan.adjacent
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
    yield "operator", [plan.operator, *plan.adjacent_evaluation]
    yield "why not", [f"{each.operator}: {joined(each.obstacles)}" for each in plan.rejected]


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


def _share_line(plan: QueryPlan, explanation: ExplanationSections) -> str:
    if plan.alone is not None:
        return f"alone: {plan.alone}"
    own = [p for each in explanation.operators for p in each.kleene if plan.name in p.queries]
    if not own:
        node = next(each for each in explanation.operators if plan.name in each.queries)
        together = [name for name in node.queries if name != plan.name]
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


def _physical_plan(operators: Iterable[OperatorPlan]) -> list[str]:
    """Operators of several queries in full, then those of one query in a line for each kind."""
    together = [each for each in operators if len(each.queries) > 1]
    lines = [line for each in together for line in _operator(each)]
    alone: dict[str, list[OperatorPlan]] = {}
    for each in operators:
        if len(each.queries) == 1:
            alone.setdefault(each.operator, []).append(each)
    for name, several in alone.items():
        names = shortened([each.queries[0] for each in several], SHOWN)
        each_alone = "" if len(several) == 1 else "; one operator each"
        lines.append(f"  {name:{LABEL}}{names}{each_alone}")
        lines.append(f"  {'':{LABEL}}{several[0].summary}")
    return lines


def _operator(plan: OperatorPlan) -> list[str]:
    split = f"partitions by {joined(plan.partition_by)}" if plan.partition_by else "no partitions"
    parts = [(part.pattern, shortened(part.queries, SHOWN)) for part in plan.kleene]
    details = [
        f"{plan.semantics}, {split}, panes of {plan.pane_text}",
        f"{plan.summary}; {joined(plan.cost)}",
        f"{plan.state_words:,} words of state per {plan.state_per}",
        plan.why_windows,
        *(f"one step for {', '.join(types)}" for types in plan.shared_parts),
        *([plan.reason] if plan.reason else []),
    ]
    return [
        f"  {plan.operator:{LABEL}}{shortened(plan.queries, SHOWN)}",
        *(f"  {'':{LABEL}}{line}" for line in details),
        *(f"  {'':{LABEL - 2}}{line}" for line in _aligned(parts)),
    ]


def _sharing_plan(plan: SharingPlanSection) -> list[str]:
    costs = [f"{name} {cost:,.3g}" for name, cost in plan.alternatives.items()]
    lines = [
        ("planner", f"{plan.planner}, since {plan.why}"),
        ("cost", f"{plan.cost:,.3g} ns per event; by other planners: {', '.join(costs)}"),
        *(("", note) for note in plan.notes),
    ]
    shown = _labelled(lines)
    if plan.transitions:
        shown += _labelled([("transitions", "that queries share; costs in ns per event")])
        shown += _few([(f"{s.source} -> {s.target}", _set(s)) for s in plan.transitions])
    if plan.parts:
        shown += _labelled([("longer parts", "that queries could share as one step")])
        shown += _few([(each.part, each.why) for each in plan.parts])
    return shown


def _input(section: InputSection) -> list[str]:
    lines = section.plan.split("\n")
    return [f"{INPUT_PLAN} {section.name}", *(f"  {line}".rstrip() for line in lines)]


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


def _types(explanation: ExplanationSections) -> list[str]:
    return _aligned([(t.type, _roles(t)) for t in explanation.template.types])


def _roles(type_: TypePlan) -> str:
    roles = (("starts", type_.starts), ("ends", type_.ends), ("forbidden in", type_.negated))
    said = [f"{role} {shortened(queries, SHOWN)}" for role, queries in roles if queries]
    return "; ".join(said)


def _steps(explanation: ExplanationSections) -> list[str]:
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
