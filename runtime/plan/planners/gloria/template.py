"""The merged template of a group of chains: its pools in order, and the queries of each pool.

Queries are bits. A **Q-set** is a mask with the type whose snapshots it uses; the queries of a
pool that are in no Q-set are not shared there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from runtime.plan.planners.gloria.chains import TypeChain
from runtime.plan.planners.gloria.patterns import KleeneLoop, Pool

QSet: TypeAlias = tuple[int, str]
QSets: TypeAlias = tuple[QSet, ...]


@dataclass(frozen=True, eq=False)
class TemplatePath:
    """The pools that some queries have ahead of them. Compared by identity, as a cache key."""

    pools: tuple[Pool, ...]


@dataclass(frozen=True, eq=False)
class TemplatePlace:
    """A pool of the template. `before` and `after` are the adjacent pools, by index, with the
    queries that come from there or go there. `starting` queries begin here, the `charged` ones at
    the first type of their query; `ending` queries have no pool after it. `alike` are the groups
    of queries with the same path from here on, and `ways` those paths, this pool first."""

    pool: Pool
    queries: int
    starting: int
    charged: int
    ending: int
    before: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, int], ...]
    alike: tuple[int, ...]
    ways: tuple[TemplatePath, ...]

    @property
    def source(self) -> str:
        return self.pool.source

    @property
    def target(self) -> str:
        return self.pool.target

    @property
    def local(self) -> tuple[str, ...]:
        """The types for which the pool can create new snapshots."""
        return self.pool.types if isinstance(self.pool, KleeneLoop) else (self.pool.source,)


@dataclass(frozen=True)
class GloriaTemplate:
    """`names` has the query of each bit."""

    names: tuple[str, ...]
    places: tuple[TemplatePlace, ...]

    def queries(self, mask: int) -> tuple[str, ...]:
        found = []
        while mask:
            low = mask & -mask
            found.append(self.names[low.bit_length() - 1])
            mask ^= low
        return tuple(found)


def merge(pools: list[Pool], queries: Mapping[TypeChain, list[str]]) -> GloriaTemplate:
    names: list[str] = []
    drafts = [_Draft() for _ in pools]
    index = {pool: i for i, pool in enumerate(pools)}
    for chain, of in queries.items():
        mask = ((1 << len(of)) - 1) << len(names)
        names += of
        _draw(chain, mask, [index[pool] for pool in chain.pools], drafts)
    places = (draft.place(pool) for draft, pool in zip(drafts, pools, strict=True))
    return GloriaTemplate(tuple(names), tuple(places))


class _Draft:
    def __init__(self) -> None:
        self.queries = self.starting = self.charged = self.ending = 0
        self.before: defaultdict[int, int] = defaultdict(int)
        self.after: defaultdict[int, int] = defaultdict(int)
        self.rests: defaultdict[tuple[Pool, ...], int] = defaultdict(int)

    def place(self, pool: Pool) -> TemplatePlace:
        return TemplatePlace(
            pool,
            self.queries,
            self.starting,
            self.charged,
            self.ending,
            tuple(self.before.items()),
            tuple(self.after.items()),
            tuple(self.rests.values()),
            tuple(map(TemplatePath, self.rests)),
        )


def _draw(chain: TypeChain, mask: int, at: list[int], drafts: list[_Draft]) -> None:
    for i, p in enumerate(at):
        draft = drafts[p]
        draft.queries |= mask
        draft.rests[chain.pools[i:]] |= mask
        if i:
            draft.before[at[i - 1]] |= mask
        else:
            draft.starting |= mask
            draft.charged |= mask if chain.starts else 0
        if i + 1 < len(at):
            draft.after[at[i + 1]] |= mask
        else:
            draft.ending |= mask
