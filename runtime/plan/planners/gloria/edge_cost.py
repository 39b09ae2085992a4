"""Edge weights of the plan graph: the cost of the plans of two consecutive pools.

The cost of a plan is the sum of the cost of each pool and of the changes between pools. A Q-set, or
a subset of it, is kept if the next pool has it with the same snapshots; otherwise it is evaluated
to one value per query.
"""

from __future__ import annotations

from math import inf

from runtime.plan.planners.gloria import kleene
from runtime.plan.planners.gloria.costs import GloriaCosts
from runtime.plan.planners.gloria.patterns import KleeneLoop, Pool
from runtime.plan.planners.gloria.template import QSet, QSets, TemplatePath, TemplatePlace


def within(sets: QSets, mask: int) -> QSets:
    """The Q-sets restricted to these queries."""
    return tuple((part, snapshots) for q, snapshots in sets if (part := q & mask))


def touching(sets: QSets, queries: int) -> QSets:
    """The Q-sets with some of these queries."""
    return tuple(each for each in sets if each[0] & queries)


def possible(place: TemplatePlace, arrived: QSets, chosen: QSet) -> bool:
    """Whether a set can be chosen: it creates snapshots for more than one query, or it is a subset
    of an arriving set with the same snapshots."""
    q, snapshots = chosen
    if chosen in arrived or (snapshots in place.local and q & (q - 1)):
        return True
    return any(snapshots == s and not q & ~mask for mask, s in arrived)


def valid(place: TemplatePlace, arrived: QSets, sets: QSets) -> bool:
    return all(possible(place, arrived, each) for each in sets)


def _kept(q: int, snapshots: str, sets: QSets) -> int:
    """The queries of a set that keep its snapshots, in any subsets."""
    kept = 0
    for mask, s in sets:
        if s == snapshots and not mask & ~q:
            kept |= mask
    return kept


def unshared(sets: QSets, queries: int) -> int:
    for q, _ in sets:
        queries &= ~q
    return queries


class EdgeCosts:
    """Edge weights under given costs. Caches the cost of the rest of each path."""

    def __init__(self, costs: GloriaCosts) -> None:
        self.costs = costs
        self._rests: dict[tuple[TemplatePath, str | None], float] = {}

    def start(self, place: TemplatePlace) -> float:
        return self.costs.start(place.source, place.charged.bit_count()) if place.charged else 0.0

    def change(self, place: TemplatePlace, arrived: QSets, sets: QSets, queries: int) -> float:
        """The cost of changing the arriving Q-sets of these queries into those of the pool."""
        chosen = set(sets)
        total = 0.0
        free = queries
        for q, snapshots in arrived:
            free &= ~q
            if (q, snapshots) not in chosen and (lost := q & ~_kept(q, snapshots, sets)):
                total += self.costs.evaluate(place.source, snapshots, lost.bit_count())
        if free:
            for q, _ in sets:
                if merged := q & free:
                    total += self.costs.merge(place.source, merged.bit_count())
        return total

    def edge(self, place: TemplatePlace, arrived: QSets, sets: QSets, queries: int) -> float:
        """The change for the queries from one previous pool; infinite if it is not possible."""
        mine = touching(sets, queries)
        if not valid(place, arrived, mine):
            return inf
        return self.change(place, arrived, mine, queries)

    def inside(self, place: TemplatePlace, sets: QSets) -> float:
        """The weight of a path through a loop; 0 for a step, which `onward` charges."""
        if not isinstance(place.pool, KleeneLoop):
            return 0.0
        k = unshared(sets, place.queries).bit_count()
        total = kleene.apart(self.costs, place.pool, k) if k else 0.0
        for q, snapshots in sets:
            total += kleene.shared(self.costs, place.pool, snapshots, q.bit_count())
        return total

    def onward(self, place: TemplatePlace, sets: QSets) -> float:
        """Propagation to the target of a step, and the evaluation of queries that end there."""
        source, target, costs = place.source, place.target, self.costs
        step = not isinstance(place.pool, KleeneLoop)
        total = 0.0
        rest = place.queries
        for q, snapshots in sets:
            rest &= ~q
            if step:
                total += costs.shared(source, target, snapshots, q.bit_count())
            if ended := q & place.ending:
                total += costs.evaluate(target, snapshots, ended.bit_count())
        if step and rest:
            total += costs.apart(source, target, rest.bit_count())
        return total

    def rest(self, way: TemplatePath, snapshots: str | None) -> float:
        """Estimates the propagation along the rest of a path, for one set with these snapshots or
        for one query that does not share."""
        cost = self._rests.get((way, snapshots))
        if cost is None:
            cost = sum(self._through(pool, snapshots) for pool in way.pools)
            self._rests[way, snapshots] = cost
        return cost

    def finish(self, way: TemplatePath, snapshots: str, k: int) -> float:
        return self.costs.evaluate(way.pools[-1].target, snapshots, k)

    def _through(self, pool: Pool, snapshots: str | None) -> float:
        if isinstance(pool, KleeneLoop):
            if snapshots is None:
                return kleene.apart(self.costs, pool, 1)
            return kleene.shared(self.costs, pool, snapshots, 1)
        if snapshots is None:
            return self.costs.apart(pool.source, pool.target, 1)
        return self.costs.shared(pool.source, pool.target, snapshots, 1)
