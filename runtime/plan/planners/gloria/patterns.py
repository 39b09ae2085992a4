"""The planner's pattern model: a sequence of event types and Kleene loops.

SEQ(F, A, (SEQ(B, C+))+, D) is a `Sequence` of two types, a `Kleene` and a type. Internally, a
pattern is the list of its **pools** in order: a `PatternStep` from one type to the next, or a whole
`KleeneLoop`. The paper keeps candidate plans for each pool; a loop has one plan for all its steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

Transition: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Sequence:
    parts: tuple[PatternPart, ...]


@dataclass(frozen=True)
class Kleene:
    part: PatternPart


PatternPart: TypeAlias = str | Sequence | Kleene


@dataclass(frozen=True)
class PatternStep:
    """Events of `target` follow events of `source`."""

    source: str
    target: str

    @property
    def types(self) -> tuple[str, ...]:
        return self.source, self.target

    @property
    def transitions(self) -> tuple[Transition, ...]:
        return ((self.source, self.target),)

    def __str__(self) -> str:
        return f"{self.source} to {self.target}"


@dataclass(frozen=True)
class KleeneLoop:
    """A Kleene part, flat or nested, entered at `source` and left at `target`."""

    parts: tuple[str | KleeneLoop, ...]

    @cached_property
    def source(self) -> str:
        return _first(self.parts[0])

    @cached_property
    def target(self) -> str:
        return _last(self.parts[-1])

    @cached_property
    def types(self) -> tuple[str, ...]:
        return tuple(_types(self.parts))

    @cached_property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions of all loops in it, including from each last type back to its first."""
        return tuple(dict.fromkeys(_transitions(self)))

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.parts))
        return f"{inner}+" if inner == self.parts[0] else f"SEQ({inner})+"


Pool: TypeAlias = PatternStep | KleeneLoop


def flat(pattern: PatternPart) -> tuple[str | KleeneLoop, ...]:
    """Flattens nested sequences; a loop that contains only a loop becomes that loop."""
    if isinstance(pattern, str):
        return (pattern,)
    if isinstance(pattern, Sequence):
        return tuple(each for part in pattern.parts for each in flat(part))
    inner = flat(pattern.part)
    if len(inner) == 1 and isinstance(inner[0], KleeneLoop):
        return inner
    return (KleeneLoop(inner),) if inner else ()


def first_type(parts: tuple[str | KleeneLoop, ...]) -> str:
    return _first(parts[0])


def all_types(parts: tuple[str | KleeneLoop, ...]) -> list[str]:
    """With repetitions."""
    return list(_types(parts))


def pools(parts: tuple[str | KleeneLoop, ...]) -> tuple[Pool, ...]:
    found: list[Pool] = []
    for i, part in enumerate(parts):
        if i:
            found.append(PatternStep(_last(parts[i - 1]), _first(part)))
        if isinstance(part, KleeneLoop):
            found.append(part)
    return tuple(found)


def _first(part: str | KleeneLoop) -> str:
    return part if isinstance(part, str) else part.source


def _last(part: str | KleeneLoop) -> str:
    return part if isinstance(part, str) else part.target


def _types(parts: tuple[str | KleeneLoop, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        else:
            yield from _types(part.parts)


def _transitions(loop: KleeneLoop) -> Iterator[Transition]:
    for pool in pools(loop.parts):
        if isinstance(pool, KleeneLoop):
            yield from _transitions(pool)
        else:
            yield pool.source, pool.target
    yield loop.target, loop.source
