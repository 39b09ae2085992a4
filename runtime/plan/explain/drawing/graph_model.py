"""The model of the picture: boxes, arrows between them, loops, and what NOT forbids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runtime.plan.explain.phrases import shortened

if TYPE_CHECKING:
    from runtime.plan.explain.explanation_sections import (
        ExplanationSections,
        NegationPlan,
        StepPlan,
        TemplatePlan,
    )

PLAIN, KLEENE, SHARED, NOT = "plain", "kleene", "shared", "not"
MOST_NOTES = 12


@dataclass(frozen=True)
class Box:
    """An event type. `positive` is false if it occurs only under NOT."""

    name: str
    start: bool
    end: bool
    positive: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Arrow:
    """A transition; `title` is the full text of `label`, `ahead` the number of queries in which it
    does not lead back to the start of a repetition."""

    source: str
    target: str
    label: str
    title: str
    look: str
    ahead: int
    sharers: int = 0  #: how many queries it holds for

    @property
    def loop(self) -> bool:
        return self.source == self.target


@dataclass(frozen=True)
class Ban:
    """A NOT that ends with `source` and forbids a transition, or a start (`before` alone) or an
    end (`after` alone) of trends."""

    source: str
    after: str | None
    before: str | None
    title: str


@dataclass(frozen=True)
class Sketch:
    heading: str
    boxes: dict[str, Box]
    arrows: tuple[Arrow, ...]
    bans: tuple[Ban, ...]
    notes: tuple[str, ...] = ()  #: lines below the picture


def sketch(explanation: ExplanationSections) -> Sketch:
    negations = {query.name: query.negations for query in explanation.queries}
    template = sketch_of(explanation.template, negations)
    return replace(template, notes=_operators(explanation))


def _operators(explanation: ExplanationSections) -> tuple[str, ...]:
    """The physical plan: a line for each operator."""
    lines = [f"{each.operator}: {shortened(each.queries, 8)}" for each in explanation.operators]
    if len(lines) > MOST_NOTES:
        lines = [*lines[:MOST_NOTES], f"and {len(lines) - MOST_NOTES} more operators"]
    return tuple(lines)


def sketch_of(template: TemplatePlan, negations: Mapping[str, tuple[NegationPlan, ...]]) -> Sketch:
    """`negations` by query; a query without any has none."""
    steps = [_arrow(step) for step in template.steps]
    inner, bans = _negations(negations)
    queries, types = len(negations), len(template.types)
    return Sketch(
        heading=f"Merged template of {_many(queries, 'query', 'queries')}"
        f" over {_many(types, 'event type', 'event types')}",
        boxes=_boxes(template, queries > 1),
        arrows=(*steps, *inner),
        bans=bans,
    )


def _boxes(template: TemplatePlan, several: bool) -> dict[str, Box]:
    boxes = {}
    for type_ in template.types:
        roles = (("starts", type_.starts), ("ends", type_.ends), ("forbidden in", type_.negated))
        said = tuple(f"{role} {shortened(names)}" for role, names in roles if names and several)
        boxes[type_.type] = Box(
            type_.type, bool(type_.starts), bool(type_.ends), type_.positive, said
        )
    return boxes


def _arrow(step: StepPlan) -> Arrow:
    look = SHARED if step.shared else KLEENE if step.kleene else PLAIN
    title = f"{step.source} -> {step.target}: {', '.join(step.queries)}"
    ahead = len(step.queries) - len(step.repeats)
    label, sharers = shortened(step.queries), len(step.queries)
    return Arrow(step.source, step.target, label, title, look, ahead, sharers)


def _negations(
    negations: Mapping[str, tuple[NegationPlan, ...]],
) -> tuple[list[Arrow], tuple[Ban, ...]]:
    """Steps inside NOTs as arrows, and the bans, each once with all its queries."""
    inner: dict[tuple[str, str], list[str]] = {}
    bans: dict[tuple[str, str | None, str | None], list[str]] = {}
    for name, plans in negations.items():
        for negation in plans:
            for step in negation.steps:
                inner.setdefault(step, []).append(name)
            for gap in negation.gaps:
                for end in negation.ends:
                    bans.setdefault((end, gap.after, gap.before), []).append(name)
    arrows = [
        Arrow(source, target, "", f"under NOT: {source} -> {target}: {_unique(names)}", NOT, 0)
        for (source, target), names in inner.items()
    ]
    found = [
        Ban(source, after, before, f"NOT {source} in between: {_unique(names)}")
        for (source, after, before), names in bans.items()
    ]
    return arrows, tuple(found)


def _unique(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"
