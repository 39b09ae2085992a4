"""Groups the chains that are planned together.

Chains without a common pool cannot share, so connected components are planned separately. The graph
grows along the chains, so the pools of a component need an order in which every chain goes forward.
SEQ(A, B) and SEQ(B, A) have one, since they have no common pool. A query with A to B before B to C
and others that lead from B to C back to A to B have none. Then the component is cut: each chain,
the most common first, goes into the first group whose order it does not contradict. Results stay
correct; chains of different groups just do not share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from runtime.plan.planners.gloria.chains import TypeChain
from runtime.plan.planners.gloria.patterns import Pool

MANY = 1000  # with more pools, searching the successors of one is cheaper than storing them


def components(chains: Iterable[TypeChain]) -> list[list[TypeChain]]:
    """Chains that have a common pool, directly or through other chains."""
    parent: dict[Pool, Pool] = {}

    def root(pool: Pool) -> Pool:
        while (up := parent.setdefault(pool, pool)) != pool:
            parent[pool] = parent[up]
            pool = up
        return pool

    chains = list(chains)
    for chain in chains:
        for pool in chain.pools[1:]:
            parent[root(pool)] = root(chain.pools[0])
    found: defaultdict[Pool, list[TypeChain]] = defaultdict(list)
    for chain in chains:
        found[root(chain.pools[0])].append(chain)
    return list(found.values())


def order(chains: Iterable[TypeChain]) -> list[Pool] | None:
    """The pools in an order in which every chain goes forward, or None if there is none."""
    sorter: TopologicalSorter[Pool] = TopologicalSorter()
    for chain in chains:
        sorter.add(chain.pools[0])
        for one, other in pairwise(chain.pools):
            sorter.add(other, one)
    try:
        return list(sorter.static_order())
    except CycleError:
        return None


class _Dense:
    """A group of chains with all successors of each pool as bits: `fits` is fast, `add` slow."""

    def __init__(self) -> None:
        self.chains: list[TypeChain] = []
        self.after: dict[int, int] = {}

    def fits(self, way: list[int]) -> bool:
        """A cycle would need a path from a pool of the chain back to an earlier one."""
        before = 0
        for pool in way:
            if self.after.get(pool, 0) & before:
                return False
            before |= 1 << pool
        return True

    def add(self, chain: TypeChain, way: list[int]) -> None:
        self.chains.append(chain)
        later = whole = 0
        new = False
        for pool in reversed(way):
            known = self.after.get(pool, 0)
            new |= bool(later & ~known)
            self.after[pool] = known | later
            later |= known | 1 << pool
            whole |= 1 << pool
        if new:
            for pool, known in self.after.items():
                if known & whole and not whole >> pool & 1:
                    self.after[pool] = known | self._beyond(known, way)

    def _beyond(self, known: int, way: list[int]) -> int:
        """The successors of the chain's first pool in `known` include those of its later pools."""
        first = next(pool for pool in way if known >> pool & 1)
        return self.after[first]


class _Sparse:
    """The same with only the direct successors of each pool: for many pools with few chains."""

    def __init__(self) -> None:
        self.chains: list[TypeChain] = []
        self.next: defaultdict[int, set[int]] = defaultdict(set)

    def fits(self, way: list[int]) -> bool:
        seen: set[int] = set()
        before = set(way)
        for pool in reversed(way):
            before.discard(pool)
            if not before:
                break
            found = [pool]
            while found:
                new = self.next.get(found.pop(), _NONE) - seen
                if new & before:
                    return False
                seen |= new
                found += new
        return True

    def add(self, chain: TypeChain, way: list[int]) -> None:
        self.chains.append(chain)
        for one, other in pairwise(way):
            self.next[one].add(other)


_NONE: set[int] = set()


def cut(sizes: dict[TypeChain, int], limit: int) -> list[list[TypeChain]]:
    """Groups without a cycle. Only the last `limit` groups accept more chains, which bounds the
    time if many chains contradict each other."""
    many = len({pool for chain in sizes for pool in chain.pools}) > MANY
    index: dict[Pool, int] = {}
    groups: list[_Dense | _Sparse] = []
    for chain in sorted(sizes, key=lambda each: -sizes[each]):
        way = [index.setdefault(pool, len(index)) for pool in chain.pools]
        group = next((each for each in groups[-limit:] if each.fits(way)), None)
        if group is None:
            group = _Sparse() if many else _Dense()
            groups.append(group)
        group.add(chain, way)
    return [group.chains for group in groups]
