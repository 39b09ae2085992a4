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
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from runtime.planning.gloria.chains import Chain
from runtime.planning.gloria.patterns import Pool


def components(chains: Iterable[Chain]) -> list[list[Chain]]:
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
    found: defaultdict[Pool, list[Chain]] = defaultdict(list)
    for chain in chains:
        found[root(chain.pools[0])].append(chain)
    return list(found.values())


def order(chains: Iterable[Chain]) -> list[Pool] | None:
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


@dataclass
class _Group:
    """`after` has, for each pool, the pools that come later, as bits."""

    chains: list[Chain] = field(default_factory=list)
    after: dict[int, int] = field(default_factory=dict)

    def fits(self, bits: list[int]) -> bool:
        """A cycle would need a way back from a pool of the chain to one before it."""
        before = 0
        for bit in bits:
            if self.after.get(bit, 0) & before:
                return False
            before |= bit
        return True

    def add(self, chain: Chain, bits: list[int]) -> None:
        self.chains.append(chain)
        later = 0
        new = False
        whole = 0
        for bit in reversed(bits):
            known = self.after.get(bit, 0)
            new |= bool(later & ~known)
            self.after[bit] = later = known | later
            later |= bit
            whole |= bit
        if new:
            for pool, known in self.after.items():
                if known & whole and not pool & whole:
                    for bit in bits:
                        if known & bit:
                            known |= self.after[bit]
                    self.after[pool] = known


def cut(sizes: dict[Chain, int], limit: int) -> list[list[Chain]]:
    """Groups without a cycle. Only the first `limit` groups take more chains, so that many
    contradictions do not make the cut quadratic with a large factor; a chain that fits into none
    of them is a group by itself."""
    index: dict[Pool, int] = {}
    groups: list[_Group] = []
    for chain in sorted(sizes, key=lambda each: -sizes[each]):
        bits = [1 << index.setdefault(pool, len(index)) for pool in chain.pools]
        group = next((each for each in groups[:limit] if each.fits(bits)), None)
        if group is None:
            group = _Group()
            groups.append(group)
        group.add(chain, bits)
    return [group.chains for group in groups]
