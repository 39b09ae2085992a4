"""What the picture shows: boxes, arrows between them, loops on them, and what NOT forbids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime.explain.words import shortened

if TYPE_CHECKING:
    from runtime.explain.explanation import Explanation, StepPlan

PLAIN, KLEENE, SHARED, NOT = "plain", "kleene", "shared", "not"


@dataclass(frozen=True)
class Box:
    """An event type. `positive` is false where it stands only under NOT."""

    name: str
    start: bool
    end: bool
    positive: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Arrow:
    """A transition; `title` is the whole of what `label` shortens, `ahead` the number of queries
    in which it does not lead back to the beginning of a repetition."""

    source: str
    target: str
    label: str
    title: str
    look: str
    ahead: int

    @property
    def loop(self) -> bool:
        return self.source == self.target


@dataclass(frozen=True)
class Ban:
    """A NOT that ends with `source` and stands in the way of a transition, or of a start
    (`before` alone) or an end (`after` alone) of trends."""

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


def sketch(explanation: Explanation) -> Sketch:
    steps = [_arrow(step) for step in explanation.template.steps]
    inner, bans = _negations(explanation)
    queries, types = len(explanation.queries), len(explanation.template.types)
    return Sketch(
        heading=f"Merged template of {_many(queries, 'query', 'queries')}"
        f" over {_many(types, 'event type', 'event types')}",
        boxes=_boxes(explanation),
        arrows=(*steps, *inner),
        bans=bans,
    )


def _boxes(explanation: Explanation) -> dict[str, Box]:
    several = len(explanation.queries) > 1
    boxes = {}
    for type_ in explanation.template.types:
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
    return Arrow(step.source, step.target, shortened(step.queries), title, look, ahead)


def _negations(explanation: Explanation) -> tuple[list[Arrow], tuple[Ban, ...]]:
    """Steps inside NOTs as arrows, and the bans, each once with all the queries that have it."""
    inner: dict[tuple[str, str], list[str]] = {}
    bans: dict[tuple[str, str | None, str | None], list[str]] = {}
    for query in explanation.queries:
        for negation in query.negations:
            for step in negation.steps:
                inner.setdefault(step, []).append(query.name)
            for gap in negation.gaps:
                for end in negation.ends:
                    bans.setdefault((end, gap.after, gap.before), []).append(query.name)
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
