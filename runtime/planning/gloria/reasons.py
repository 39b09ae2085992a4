"""Why a Q-set is as it is, in one line."""

from __future__ import annotations

from runtime.planning.gloria import kleene
from runtime.planning.gloria.patterns import Loop
from runtime.planning.gloria.template import Place, QSet, QSets
from runtime.planning.gloria.weights import Weights

ONLY_ONE = "no other query has this transition"
OTHER_GROUP = "the other queries with this transition have orders that contradict its own"


def why_shared(weights: Weights, place: Place, arrived: QSets, chosen: QSet) -> str:
    """A set that shares: kept, renewed or merged."""
    q, snapshots = chosen
    spent, alone = _both(weights, place, chosen)
    compared = f"{place.pool} costs {spent:.3g} instead of {alone:.3g}"
    if chosen in arrived:
        if q.bit_count() == 1:
            return f"goes on with snapshots of {snapshots} after its set parted: {compared}"
        return f"keeps the snapshots of {snapshots}, nothing is evaluated: {compared}"
    evaluated = sum(
        weights.costs.evaluate(place.source, old, (mask & q).bit_count())
        for mask, old in arrived
        if mask & q
    )
    how = f"evaluating costs {evaluated:.3g}" if evaluated else "nothing is to be evaluated"
    same = [old for mask, old in arrived if mask == q]
    verb = f"new snapshots of {snapshots} after {same[0]}" if same else f"merged at {snapshots}"
    return f"{verb}, {how}: {compared}"


def why_apart(weights: Weights, place: Place, mask: int, elsewhere: bool) -> str:
    """`elsewhere`: queries of other groups have the pool, too."""
    k = mask.bit_count()
    if place.queries.bit_count() == 1:
        return OTHER_GROUP if elsewhere else ONLY_ONE
    alone = _alone(weights, place, k)
    if k == 1:
        return f"shares with no other query: {place.pool} costs {alone:.3g}, evaluating is saved"
    best = min(_shared(weights, place, (mask, type_)) for type_ in place.local)
    later = min(weights.costs.evaluate(place.target, type_, k) for type_ in place.local)
    return f"sharing costs {best:.3g} and {later:.3g} to evaluate, not sharing {alone:.3g}"


def _both(weights: Weights, place: Place, chosen: QSet) -> tuple[float, float]:
    return _shared(weights, place, chosen), _alone(weights, place, chosen[0].bit_count())


def _shared(weights: Weights, place: Place, chosen: QSet) -> float:
    q, snapshots = chosen
    if isinstance(place.pool, Loop):
        return kleene.shared(weights.costs, place.pool, snapshots, q.bit_count())
    return weights.costs.shared(place.source, place.target, snapshots, q.bit_count())


def _alone(weights: Weights, place: Place, k: int) -> float:
    if isinstance(place.pool, Loop):
        return kleene.apart(weights.costs, place.pool, k)
    return weights.costs.apart(place.source, place.target, k)
