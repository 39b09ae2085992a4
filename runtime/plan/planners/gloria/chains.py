"""Splits queries into chains of pools, the input of the plan graph.

A **chain** is a part of a query that can be planned: consecutive pools without a type that occurs
twice in the query. The events of such a type have several positions in the query at once, and a
snapshot would mix them; so those transitions are not shared, and the query is split into the chains
before, between and after them. Queries with the same chain are one block of bits: the best plan for
one of them is best for all, since costs are linear in the number of equal queries.
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
    """`starts`: whether the query starts with it, so that its first type is charged here."""

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
        stretches = _stretches(pools(parts), repeated, name, found)
        for at, stretch in stretches:
            found.queries.setdefault(TypeChain(stretch, at == 0), []).append(name)
        if not stretches or stretches[0][0] != 0:
            found.firsts.append(first_type(parts))
    return found


def _stretches(
    of: tuple[Pool, ...], repeated: set[str], name: str, found: TypeChains
) -> list[tuple[int, tuple[Pool, ...]]]:
    """The longest stretches of pools without a repeated type, each with its index. The rest is
    added to `found.alone`."""
    stretches: list[tuple[int, tuple[Pool, ...]]] = []
    begin = 0
    for i, pool in enumerate((*of, None)):
        twice = [] if pool is None else [type_ for type_ in pool.types if type_ in repeated]
        if pool is not None and not twice:
            continue
        if begin < i:
            stretches.append((begin, of[begin:i]))
        begin = i + 1
        if pool is not None:
            why = f"{name} has {twice[0]} twice: its snapshots would mix two places of the query"
            for transition in pool.transitions:
                found.alone.setdefault((transition, name), why)
    return stretches
