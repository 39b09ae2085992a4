"""Queries as chains of pools: the input of the graph.

A **chain** is a part of a query that can be planned: consecutive pools in which no type occurs
twice in the query. Where a type does occur twice, its events hold several positions of the query
at once, and a snapshot of the type would mix them; those transitions are not shared, and the query
falls into the chains before, between and after them. Queries with the same chain are one block of
bits: whatever is best for one of them is best for all, since the costs are linear in the queries
that do the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from runtime.plan.planners.gloria.patterns import (
    PatternPart,
    Pool,
    Transition,
    all_types,
    first_type,
    flat,
    pools,
)


@dataclass(frozen=True)
class TypeChain:
    """`starts`: the query starts with it, so that its first type is charged here."""

    pools: tuple[Pool, ...]
    starts: bool


@dataclass
class TypeChains:
    """`queries` are those of each chain. `alone` are the transitions that a query cannot share,
    and why; `firsts` the first types that no chain charges."""

    queries: dict[TypeChain, list[str]] = field(default_factory=dict)
    alone: dict[tuple[Transition, str], str] = field(default_factory=dict)
    firsts: list[str] = field(default_factory=list)


def chains(queries: Mapping[str, PatternPart]) -> TypeChains:
    found = TypeChains()
    for name, pattern in queries.items():
        parts = flat(pattern)
        if not parts:
            raise ValueError(f"query {name} has no event type")
        counts = Counter(all_types(parts))
        repeated = {type_ for type_, count in counts.items() if count > 1}
        runs = _runs(pools(parts), repeated, name, found)
        for at, run in runs:
            found.queries.setdefault(TypeChain(run, at == 0), []).append(name)
        if not runs or runs[0][0] != 0:
            found.firsts.append(first_type(parts))
    return found


def _runs(
    of: tuple[Pool, ...], repeated: set[str], name: str, found: TypeChains
) -> list[tuple[int, tuple[Pool, ...]]]:
    """The longest runs of pools without a repeated type, each with its index; the rest is alone."""
    runs: list[tuple[int, tuple[Pool, ...]]] = []
    begin = 0
    for i, pool in enumerate((*of, None)):
        twice = [] if pool is None else [type_ for type_ in pool.types if type_ in repeated]
        if pool is not None and not twice:
            continue
        if begin < i:
            runs.append((begin, of[begin:i]))
        begin = i + 1
        if pool is not None:
            why = f"{name} has {twice[0]} twice: its snapshots would mix two places of the query"
            for transition in pool.transitions:
                found.alone.setdefault((transition, name), why)
    return runs
