"""Chains that are planned together.

Chains that have no pool in common cannot share, so connected components are planned apart. The
graph grows along the chains, so the pools of a component must have an order in which every chain
goes forward. SEQ(A, B) and SEQ(B, A) have one, since they have no pool in common; q1 with A to B
before B to C and other queries that lead from B to C back to A to B have none. Then the component
is cut: chains go, the most common first, into the first group whose order they do not contradict.
Results stay right, only what chains of two groups have in common is not shared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from runtime.plan.planners.gloria.chains import TypeChain
from runtime.plan.planners.gloria.patterns import Pool

MANY = 1000  # pools: with more it is cheaper to search what comes after one than to keep it


def components(chains: Iterable[TypeChain]) -> list[list[TypeChain]]:
    """Chains that have a pool in common, or are linked by others that have."""
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
    """The pools so that every chain goes forward, or None if there is no such order."""
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
    """A group of chains, with all the pools that come after each pool, as bits: every question is
    short, every new chain is long."""

    def __init__(self) -> None:
        self.chains: list[TypeChain] = []
        self.after: dict[int, int] = {}

    def fits(self, way: list[int]) -> bool:
        """A cycle would need a way back from a pool of the chain to one before it."""
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
        """The first pool of the chain that comes later has all that the others have."""
        first = next(pool for pool in way if known >> pool & 1)
        return self.after[first]


class _Sparse:
    """The same, with only the next pools of each: for many pools with few chains in each."""

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
    """Groups without a cycle. Only the last `limit` groups take more chains, so that many
    contradictions do not make the cut quadratic with a large factor."""
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
