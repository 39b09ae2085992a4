"""All plans of a small workload, one by one: the judge of the planner.

It reads patterns by itself and knows nothing of the planner but the costs. A plan gives every pool
(a step, or a whole Kleene part, which by the path principle has one plan) a partition of its
queries. A block evaluates alone, makes snapshots here, or keeps those that it came with.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from runtime.plan.planners.gloria.costs import GloriaCosts
from runtime.plan.planners.gloria.patterns import Kleene, PatternPart, Sequence

Carried = tuple[frozenset[str], str] | None
Pool = tuple[str, str, tuple[tuple[str, str], ...]]  # source, target, transitions of a loop
Block = tuple[frozenset[str], str | None, bool]  # queries, snapshots, whether kept


def cheapest(queries: Mapping[str, PatternPart], costs: GloriaCosts) -> float:
    """The cost of the best plan of all. No type may occur twice in a query."""
    ways = {name: _pools(pattern)[2] for name, pattern in queries.items()}
    order = _ordered(ways)
    names = sorted(queries)
    first = sum(costs.start(_pools(pattern)[0], 1) for pattern in queries.values())

    @cache
    def rest(i: int, state: tuple[Carried, ...]) -> float:
        if i == len(order):
            return 0.0
        pool, carried = order[i], dict(zip(names, state, strict=True))
        here = [name for name in names if pool in ways[name]]
        best = float("inf")
        for blocks in _plans(here, carried, pool):
            after = dict(carried)
            cost = 0.0
            for block in blocks:
                cost += _cost(block, carried, pool, costs)
                members, snapshots, _ = block
                for name in members:
                    ended = ways[name][-1] == pool
                    if ended and snapshots is not None:
                        cost += costs.evaluate(pool[1], snapshots, 1)
                    after[name] = None if ended or snapshots is None else (members, snapshots)
            best = min(best, cost + rest(i + 1, tuple(after[name] for name in names)))
        return best

    return first + rest(0, (None,) * len(names))


def cost_of(
    queries: Mapping[str, PatternPart],
    sets: Mapping[tuple[str, str], list[tuple[frozenset[str], str | None]]],
    costs: GloriaCosts,
) -> float:
    """The cost of one plan, which gives each transition sets of queries with their snapshots."""
    ways = {name: _pools(pattern)[2] for name, pattern in queries.items()}
    carried: dict[str, Carried] = dict.fromkeys(queries)
    total = sum(costs.start(_pools(pattern)[0], 1) for pattern in queries.values())
    for pool in _ordered(ways):
        here = {name for name, way in ways.items() if pool in way}
        before = dict(carried)
        for members, snapshots in sets[(pool[2] or (pool[:2],))[0]]:
            if not members <= here:
                continue
            came = before[min(members)]
            kept = came is not None and came[1] == snapshots and _together(members, before)
            total += _cost((members, snapshots, kept), before, pool, costs)
            for name in members:
                carried[name] = None if snapshots is None else (members, snapshots)
                if snapshots is not None and ways[name][-1] == pool:
                    total += costs.evaluate(pool[1], snapshots, 1)
    return total


def _cost(block: Block, carried: Mapping[str, Carried], pool: Pool, costs: GloriaCosts) -> float:
    members, snapshots, kept = block
    source, target, loop = pool
    k = len(members)
    cost = 0.0
    for name in members:
        before = carried[name]
        if before is not None and not kept:
            cost += costs.evaluate(source, before[1], 1)
        if before is None and snapshots is not None:
            cost += costs.merge(source, 1)
    for a, b in loop or ((source, target),):
        if snapshots is None:
            cost += costs.apart(a, b, k)
        elif loop and b == snapshots:
            cost += costs.into(a, b, k)
        else:
            cost += costs.shared(a, b, snapshots, k)
    return cost


def _plans(
    names: list[str], carried: Mapping[str, Carried], pool: Pool
) -> Iterator[tuple[Block, ...]]:
    for partition in _partitions(names):
        yield from _labelled(partition, carried, pool)


def _labelled(
    partition: list[frozenset[str]], carried: Mapping[str, Carried], pool: Pool
) -> Iterator[tuple[Block, ...]]:
    if not partition:
        yield ()
        return
    for rest in _labelled(partition[1:], carried, pool):
        for block in _labels(partition[0], carried, pool):
            yield (block, *rest)


def _labels(members: frozenset[str], carried: Mapping[str, Carried], pool: Pool) -> Iterator[Block]:
    if len(members) == 1:
        yield members, None, False
    before = carried[min(members)]
    kept = before is not None and _together(members, carried)
    if before is not None and kept:
        yield members, before[1], True
    if len(members) > 1:
        for type_ in {a for a, _ in pool[2]} or {pool[0]}:
            if not (kept and before is not None and type_ == before[1]):
                yield members, type_, False


def _together(members: frozenset[str], carried: Mapping[str, Carried]) -> bool:
    """They come from the same pool in the same set. Of a set that parted, those that went through
    a loop and those that did not carry different expressions of the same snapshots."""
    return len({carried[name] for name in members}) == 1


def _partitions(names: list[str]) -> Iterator[list[frozenset[str]]]:
    if not names:
        yield []
        return
    for rest in _partitions(names[1:]):
        yield [frozenset(names[:1]), *rest]
        for i, block in enumerate(rest):
            yield [*rest[:i], block | {names[0]}, *rest[i + 1 :]]


def _ordered(ways: Mapping[str, list[Pool]]) -> list[Pool]:
    left = {pool for way in ways.values() for pool in way}
    order: list[Pool] = []
    while left:
        free = [
            pool
            for pool in sorted(left)
            if not any(pool in w and set(w[: w.index(pool)]) & left for w in ways.values())
        ]
        order.append(free[0])
        left.remove(free[0])
    return order


def _pools(part: PatternPart) -> tuple[str, str, list[Pool]]:
    """First type, last type and pools."""
    if isinstance(part, str):
        return part, part, []
    if isinstance(part, Kleene):
        first, last, inner = _pools(part.part)
        steps: list[tuple[str, str]] = []
        for a, b, loop in inner:
            steps += loop or ((a, b),)
        return first, last, [(first, last, tuple(dict.fromkeys([*steps, (last, first)])))]
    assert isinstance(part, Sequence)
    pieces = [_pools(each) for each in part.parts]
    found = list(pieces[0][2])
    for one, other in pairwise(pieces):
        found += [(one[1], other[0], ()), *other[2]]
    return pieces[0][0], pieces[-1][1], found
