"""Finds the Kleene part of the pattern that each step of a template belongs to."""

from __future__ import annotations

from runtime.language import ast as s
from runtime.language.query import Query
from runtime.template.query_groups import kleene_subpatterns

Step = tuple[str, str]


def kleene_steps(query: Query) -> dict[Step, set[str]]:
    """For each transition between types, the texts of the Kleene parts that contain it."""
    positions = query.template.positions
    parts = _parts(query.pattern, 0)
    found: dict[Step, set[str]] = {}
    for p, q in query.template.automaton.edges:
        holders = {text for text, inside in parts if p in inside and q in inside}
        found.setdefault((positions[p].type, positions[q].type), set()).update(holders)
    return found


def repeating_steps(query: Query) -> set[Step]:
    """The transitions that only lead back in the pattern, to the start of a repetition."""
    positions = query.template.positions
    back: set[Step] = set()
    ahead: set[Step] = set()
    for p, q in query.template.automaton.edges:
        (ahead if p < q else back).add((positions[p].type, positions[q].type))
    return back - ahead


def _parts(pattern: s.Pattern, first: int) -> list[tuple[str, range]]:
    """Every Kleene part with its positions, which are numbered in the order of the leaves."""
    if isinstance(pattern, s.Not):
        return []
    found = []
    if isinstance(pattern, s.Plus | s.Star):
        found.append((kleene_subpatterns(pattern)[0], range(first, first + len(s.leaves(pattern)))))
    for part in s.children(pattern):
        found += _parts(part, first)
        first += len(s.leaves(part))
    return found
