"""Explains the choice of a Q-set in one line, with the paper's term in brackets."""

from __future__ import annotations

from runtime.plan.planners.gloria import kleene
from runtime.plan.planners.gloria.edge_cost import EdgeCosts
from runtime.plan.planners.gloria.patterns import KleeneLoop
from runtime.plan.planners.gloria.template import QSet, QSets, TemplatePlace

ONLY_ONE = "no other query has this transition"
OTHER_GROUP = "the other queries with this transition have their types in another order"


def why_shared(weights: EdgeCosts, place: TemplatePlace, arrived: QSets, chosen: QSet) -> str:
    """A set that shares: kept, renewed or merged."""
    spent, alone = _both(weights, place, chosen)
    what = f"all of {place.pool} costs" if isinstance(place.pool, KleeneLoop) else "costs"
    evaluation = _evaluation(weights, place, arrived, chosen)
    before = f", and {evaluation:.3g} to separate them before [evaluate]" if evaluation else ""
    return f"{_how(arrived, chosen)}; {what} {spent:.3g} instead of {alone:.3g}{before}"


def _how(arrived: QSets, chosen: QSet) -> str:
    q, snapshots = chosen
    if chosen in arrived and q.bit_count() == 1:
        return f"continues from {snapshots}, where the others left it [snapshots kept]"
    if chosen in arrived:
        return f"still together from {snapshots} on [snapshots kept]"
    if any(mask == q for mask, _ in arrived):
        return f"still together, with new numbers from {snapshots} on [new snapshots]"
    return f"together from {snapshots} on [merged]"


def _evaluation(weights: EdgeCosts, place: TemplatePlace, arrived: QSets, chosen: QSet) -> float:
    """The cost of evaluating queries of the set that arrive in other shared sets."""
    if chosen in arrived:
        return 0.0
    shares = [((mask & chosen[0]).bit_count(), old) for mask, old in arrived]
    return sum(weights.costs.evaluate(place.source, old, k) for k, old in shares if k)


def why_apart(weights: EdgeCosts, place: TemplatePlace, mask: int, elsewhere: bool) -> str:
    """`elsewhere`: queries of other groups have the pool, too."""
    k = mask.bit_count()
    if place.queries.bit_count() == 1:
        return OTHER_GROUP if elsewhere else ONLY_ONE
    alone = _alone(weights, place, k)
    if k == 1:
        return f"separately; costs {alone:.3g}, and nothing to separate later [evaluate]"
    best = min(_shared(weights, place, (mask, type_)) for type_ in place.local)
    later = min(weights.costs.evaluate(place.target, type_, k) for type_ in place.local)
    return (
        f"each separately; costs {alone:.3g}, together it would be {best:.3g}"
        f" and {later:.3g} to separate them later [evaluate]"
    )


def _both(weights: EdgeCosts, place: TemplatePlace, chosen: QSet) -> tuple[float, float]:
    return _shared(weights, place, chosen), _alone(weights, place, chosen[0].bit_count())


def _shared(weights: EdgeCosts, place: TemplatePlace, chosen: QSet) -> float:
    q, snapshots = chosen
    if isinstance(place.pool, KleeneLoop):
        return kleene.shared(weights.costs, place.pool, snapshots, q.bit_count())
    return weights.costs.shared(place.source, place.target, snapshots, q.bit_count())


def _alone(weights: EdgeCosts, place: TemplatePlace, k: int) -> float:
    if isinstance(place.pool, KleeneLoop):
        return kleene.apart(weights.costs, place.pool, k)
    return weights.costs.apart(place.source, place.target, k)
