"""Node generation: the candidate plans of a pool that follow from what arrives there.

The paper's three principles are reuse, local snapshots and merging all; a plan that shares nothing
follows from one that shares nothing. Merging *all* is not always best: a set with rare snapshots
may do better by itself, while the others merge. So subsets may merge, too, up to a limit, chosen
by what each set would gain over the rest of its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from runtime.plan.planners.gloria import kleene
from runtime.plan.planners.gloria.edge_cost import EdgeCosts, unshared
from runtime.plan.planners.gloria.patterns import KleeneLoop
from runtime.plan.planners.gloria.template import QSet, QSets, TemplatePath, TemplatePlace

PARTS = 12  # ways that the queries of a pool may have, for their Q-sets to part by them
ALL_SUBSETS = 4  # sets of which all subsets are tried; of more, those that gain most


@dataclass(frozen=True)
class CandidateItem:
    """Queries that decide together: a Q-set that arrives, or the part of it that has the same way
    before it, or queries that do not share so far (`snapshots` is None) and have the same way.
    `origin` is the whole Q-set. `gain` is of merging, as far as the
    rest of the way of one of them tells; `leave` of no longer sharing."""

    queries: int
    snapshots: str | None
    origin: int
    gain: float
    leave: float = 0.0


def generate(
    weights: EdgeCosts, place: TemplatePlace, arrived: QSets, subsets: int
) -> Iterator[QSets]:
    """Duplicates included: they are other ways to the same node."""
    everyone = place.queries
    if isinstance(place.pool, KleeneLoop):
        yield from _paths(weights, place, place.pool, arrived, subsets)
    else:
        yield arrived  # reuse; sharing nothing, where nothing arrives shared
        if (local := _local_snapshots(weights, place, arrived)) != arrived:
            yield local
        if everyone.bit_count() > 1:
            yield ((everyone, place.source),)
    if subsets:
        yield from _subsets(weights, place, arrived, subsets)


def _local_snapshots(weights: EdgeCosts, place: TemplatePlace, arrived: QSets) -> QSets:
    """Principle 2: new snapshots of the source, where that is rarer than those in use."""
    length, here = weights.costs.length, place.source
    return tuple(
        (q, here) if q.bit_count() > 1 and length(here) < length(snapshots) else (q, snapshots)
        for q, snapshots in arrived
    )


def _paths(
    weights: EdgeCosts, place: TemplatePlace, loop: KleeneLoop, arrived: QSets, subsets: int
) -> Iterator[QSets]:
    """The path principle: everyone shares the loop with snapshots of one of its types, or no
    one shares it."""
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
    """What can merge, whole Q-sets or their parts, for each type whose snapshots it could merge
    to; most gain first."""
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
    """What queries pay by themselves inside a set: their values at the snapshots of a loop."""
    pool = way.pools[0]
    if not isinstance(pool, KleeneLoop):
        return 0.0
    return sum(weights.costs.into(a, b, k) for a, b in pool.transitions if b == local)


def way_of(place: TemplatePlace, q: int) -> TemplatePath:
    """The way of one of the queries: of the first that has one of its own."""
    return next(way for mask, way in zip(place.alike, place.ways, strict=True) if mask & q)


def _merges(
    items: list[CandidateItem], gaining: list[CandidateItem], limit: int
) -> Iterator[Iterable[CandidateItem]]:
    """Subsets of items: all of a few; of many, those that gain, then the first half, quarter."""
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
