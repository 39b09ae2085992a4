"""What was decided: counted by event type and kind, and told by examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

KINDS = ("shared", "split", "merged", "continued")

Words = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TypeDecisions:
    """The decisions over bursts of one type. `benefit` is the sum of what sharing was predicted
    to save, in nanoseconds; below zero where splitting was better."""

    type: str
    shared: int
    split: int
    merged: int
    continued: int
    events: int
    snapshots: int
    benefit: float


@dataclass(frozen=True)
class Example:
    """One decision: the n-th over bursts of its type."""

    type: str
    kind: str
    events: int
    snapshots: int
    classes: int
    queries: int
    benefit: float
    number: int

    def told(self) -> str:
        size = f"a burst of {self.events:,} {self.type}"
        differed = (
            f"queries differed on {self.snapshots:,} of them"
            if self.snapshots
            else "all conditions agreed on them"
        )
        queries = f"{self.queries} queries"
        if self.kind == "split":
            return (
                f"{size}: {differed}, so sharing would have cost {queries} "
                f"{-self.benefit:,.0f} ns more: split"
            )
        return f"{size}: {differed}; sharing saved {queries} {self.benefit:,.0f} ns: {self.kind}"


@dataclass(frozen=True)
class Decisions:
    """Of one share group."""

    types: tuple[TypeDecisions, ...]
    examples: tuple[Example, ...]

    @classmethod
    def of(cls, names: list[str], counted: Words, log: Words) -> Decisions:
        """From the words of a kernel: per type the kinds, events, snapshots, all, benefit; per
        example type, kind, events, snapshots, classes, queries, benefit, number."""
        types = tuple(
            TypeDecisions(name, shared, split, merged, continued, events, snapshots, benefit)
            for name, row in zip(names, counted, strict=True)
            if row[6]
            for shared, split, merged, continued, events, snapshots in [row[:6].tolist()]
            for benefit in [_double(row[7])]
        )
        examples = tuple(
            Example(names[type_], KINDS[kind], events, snapshots, classes, queries, benefit, number)
            for row in log
            for type_, kind, events, snapshots, classes, queries, _, number in [row.tolist()]
            for benefit in [_double(row[6])]
        )
        return cls(types, tuple(sorted(examples, key=lambda e: (e.type, e.number))))


def _double(word: np.int64) -> float:
    """The double that has the bits of a word."""
    return float(word.view(np.float64))
