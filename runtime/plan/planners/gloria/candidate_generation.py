"""Generates the candidate plans of a pool from the Q-sets that arrive there.

The paper's three principles are reuse, local snapshots and merging all; a plan that shares nothing
follows from one that shares nothing. Merging *all* is not always best: a set with rare snapshots
may do better alone, while the others merge. So subsets may merge, too, up to a limit, chosen by the
gain of each set over the rest of its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from runtime.plan.planners.gloria import kleene
from runtime.plan.planners.gloria.edge_cost import EdgeCosts, unshared
from runtime.plan.planners.gloria.patterns import KleeneLoop
from runtime.plan.planners.gloria.template import QSet, QSets, TemplatePath, TemplatePlace

PARTS = 12  # Q-sets are split by the paths of their queries if a pool has at most this many paths
ALL_SUBSETS = 4  # all subsets of up to this many sets are tried; of more, those that gain most


@dataclass(frozen=True)
class CandidateItem:
    """Queries that decide together: an arriving Q-set, the subset of it with the same path ahead,
    or unshared queries (`snapshots` is None) with the same path. `origin` is the whole Q-set.
    `gain` estimates the benefit of merging from the path of one of them, `leave` that of no longer
    sharing."""

    queries: int
    snapshots: str | None
    origin: int
    gain: float
    leave: float = 0.0


def generate(
    weights: EdgeCosts, place: TemplatePlace, arrived: QSets, subsets: int
) -> Iterator[QSets]:
    """May yield duplicates: they are other paths to the same node."""
    everyone = place.queries
    if isinstance(place.pool, KleeneLoop):
        yield from _paths(weights, place, place.pool, arrived, subsets)
    else:
        yield arrived  # reuse; shares nothing if nothing arrives shared
        if (local := _local_snapshots(weights, place, arrived)) != arrived:
            yield local
        if everyone.bit_count() > 1:
            yield ((everyone, place.source),)
    if subsets:
        yield from _subsets(weights, place, arrived, subsets)


def _local_snapshots(weights: EdgeCosts, place: TemplatePlace, arrived: QSets) -> QSets:
    """Principle 2: new snapshots of the source if it is rarer than those in use."""
    length, here = weights.costs.length, place.source
    return tuple(
        (q, here) if q.bit_count() > 1 and length(here) < length(snapshots) else (q, snapshots)
        for q, snapshots in arrived
    )


def _paths(
    weights: EdgeCosts, place: TemplatePlace, loop: KleeneLoop, arrived: QSets, subsets: int
) -> Iterator[QSets]:
    """The path principle: all queries share the loop with snapshots of one of its types, or none
    does."""
    k = place.queries.bit_count()
    types = kleene.promising(weights.costs, loop, k, subsets) if subsets else loop.types
    if k > 1:
        for type_ in types:
            yield ((place.queries, type_),)
    yield ()
    if subsets:
        yield arrived


def _subsets(
    weights: EdgeCosts, place: TemplatePlace, arrived: QSets, limit: int
) -> Iterator[QSets]:
    for items, local in _choices(weights, place, arrived, limit):
        gaining = [item for item in items if item.gain > 0]
        leaving = [item for item in items if item.snapshots and item.leave > max(0.0, item.gain)]
        for merged in _merges(items, gaining, limit):
            yield from _node(items, merged, (), local)
            if leaving:
                yield from _node(items, merged, [i for i in leaving if i not in merged], local)
        if leaving:
            yield from _node(items, (), leaving, local)


def _choices(
    weights: EdgeCosts, place: TemplatePlace, arrived: QSets, limit: int
) -> Iterator[tuple[list[CandidateItem], str]]:
    """The items that can merge, whole Q-sets or subsets, for each type whose snapshots they could
    use; greatest gain first."""
    local = place.local
    if isinstance(place.pool, KleeneLoop):
        k = place.queries.bit_count()
        local = kleene.promising(weights.costs, place.pool, k, min(limit, 3))
    parting = bool(arrived) and 1 < len(place.alike) <= PARTS
    for type_ in local:
        for parts in (False, True) if parting else (False,):
            items = list(_items(weights, place, arrived, type_, parts))
            if len(items) > 1:
                yield sorted(items, key=lambda item: -item.gain), type_


def _items(
    weights: EdgeCosts, place: TemplatePlace, arrived: QSets, local: str, parts: bool
) -> Iterator[CandidateItem]:
    free = unshared(arrived, place.queries)
    for origin, snapshots in arrived:
        masks = place.alike if parts else (origin,)
        for mask in masks:
            if q := mask & origin:
                yield _shared_item(weights, place, q, (origin, snapshots), local)
    for mask, way in zip(place.alike, place.ways, strict=True):
        if q := mask & free:
            k = q.bit_count()
            gain = k * weights.rest(way, None) - _own(weights, way, local, k)
            yield CandidateItem(q, None, 0, gain - weights.finish(way, local, k))


def _shared_item(
    weights: EdgeCosts, place: TemplatePlace, q: int, of: QSet, local: str
) -> CandidateItem:
    origin, snapshots = of
    way, k = way_of(place, q), q.bit_count()
    part = k / origin.bit_count()
    keep = part * weights.rest(way, snapshots) + weights.finish(way, snapshots, k)
    now = weights.costs.evaluate(place.source, snapshots, k)
    merged = now + _own(weights, way, local, k) + weights.finish(way, local, k)
    return CandidateItem(
        q, snapshots, origin, keep - merged, keep - now - k * weights.rest(way, None)
    )


def _own(weights: EdgeCosts, way: TemplatePath, local: str, k: int) -> float:
    """The cost that each query of a set pays separately: its values at the loop's snapshots."""
    pool = way.pools[0]
    if not isinstance(pool, KleeneLoop):
        return 0.0
    return sum(weights.costs.into(a, b, k) for a, b in pool.transitions if b == local)


def way_of(place: TemplatePlace, q: int) -> TemplatePath:
    """The path of the first of the queries."""
    return next(way for mask, way in zip(place.alike, place.ways, strict=True) if mask & q)


def _merges(
    items: list[CandidateItem], gaining: list[CandidateItem], limit: int
) -> Iterator[Iterable[CandidateItem]]:
    """Subsets of items: all of a few; of many, those that gain, then the first half, quarter"""
    if len(items) <= ALL_SUBSETS:
        for size in range(len(items), 0, -1):
            yield from combinations(items, size)
        return
    sizes = [len(gaining), sum(item.snapshots is None for item in items)]
    yield [item for item in items if item.snapshots is None]
    while len(sizes) < limit:
        sizes.append(sizes[-1] // 2)
    for size in dict.fromkeys(sizes):
        if size:
            yield items[:size]


def _node(
    items: list[CandidateItem],
    merged: Iterable[CandidateItem],
    leaving: Iterable[CandidateItem],
    local: str,
) -> Iterator[QSets]:
    joined = gone = 0
    for item in merged:
        joined |= item.queries
    for item in leaving:
        gone |= item.queries
    if joined and joined.bit_count() < 2:
        return
    kept: dict[QSet, int] = {}
    for item in items:
        if item.snapshots is not None and not item.queries & (joined | gone):
            of = (item.origin, item.snapshots)
            kept[of] = kept.get(of, 0) | item.queries
    sets = [(q, snapshots) for (_, snapshots), q in kept.items()]
    yield tuple(sorted([*sets, (joined, local)] if joined else sets))
