"""Prints the merged template and the physical plan as a Graphviz graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.plan.explain.phrases import shortened

if TYPE_CHECKING:
    from runtime.plan.explain.explanation_sections import ExplanationSections, StepPlan, TypePlan

HEAD = """digraph template {
  rankdir=LR;
  node [shape=box, fontname="Helvetica", fontsize=12];
  edge [fontname="Helvetica", fontsize=10];"""


def as_dot(explanation: ExplanationSections) -> str:
    lines = [HEAD]
    names = {type_.type for type_ in explanation.template.types}
    for type_ in explanation.template.types:
        lines += _type(type_, names)
    lines += [_step(step) for step in explanation.template.steps]
    lines += _forbidden(explanation)
    lines += _operators(explanation)
    return "\n".join(lines) + "\n}\n"


def _type(type_: TypePlan, names: set[str]) -> list[str]:
    """An end is a double rectangle, a start has an arrow out of nowhere, a NOT is dashed."""
    looks = []
    if type_.ends:
        looks.append("peripheries=2")
    if not type_.positive:
        looks.append("style=dashed")
    name = _quoted(type_.type)
    lines = [f"  {name} [{', '.join(looks)}];" if looks else f"  {name};"]
    if type_.starts:
        start = f"-> {type_.type}"
        while start in names:
            start = f"-{start}"
        lines.append(f"  {_quoted(start)} [shape=point, width=0.06];")
        label = _quoted(shortened(type_.starts))
        lines.append(f"  {_quoted(start)} -> {name} [label={label}];")
    return lines


def _step(step: StepPlan) -> str:
    looks = [f"label={_quoted(shortened(step.queries))}"]
    if step.shared:
        looks.append('color="#b45f06", penwidth=2.5')
    elif step.kleene:
        looks.append('color="#1f6fb2", penwidth=1.5')
    return f"  {_quoted(step.source)} -> {_quoted(step.target)} [{', '.join(looks)}];"


def _forbidden(explanation: ExplanationSections) -> list[str]:
    """Dashed: the steps inside a NOT, and from its ends to what may not follow it."""
    found: dict[str, None] = {}
    for negation in (n for query in explanation.queries for n in query.negations):
        for source, target in negation.steps:
            found[_dashed(source, target, "normal")] = None
        targets = dict.fromkeys(gap.before or gap.after or "" for gap in negation.gaps)
        for end in negation.ends:
            found |= dict.fromkeys(_dashed(end, target, "tee") for target in targets)
    return list(found)


def _operators(explanation: ExplanationSections) -> list[str]:
    """The physical plan: a note for each operator with its queries."""
    lines = ["  subgraph cluster_plan {", '    label="physical plan"; style=dotted;']
    for number, each in enumerate(explanation.operators, 1):
        label = _quoted(f"{each.operator}: {shortened(each.queries)}")
        lines.append(f'    "operator {number}" [shape=note, label={label}];')
    return [*lines, "  }"]


def _dashed(source: str, target: str, head: str) -> str:
    look = f'style=dashed, arrowhead={head}, color="#b03a3a", constraint=false'
    return f"  {_quoted(source)} -> {_quoted(target)} [{look}];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
