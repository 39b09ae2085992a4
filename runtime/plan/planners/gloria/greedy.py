"""The greedy optimizer that the paper compares with (8.1): plans pool by pool, without lookahead.

Queries that begin at the same type can share from there on and keep their snapshots; later types
never create new ones. At each pool the weight of the incoming edges decides between that and not
sharing.
"""

from __future__ import annotations

from runtime.plan.planners.gloria.edge_cost import EdgeCosts, valid
from runtime.plan.planners.gloria.search import Path, arriving
from runtime.plan.planners.gloria.template import GloriaTemplate, QSets, TemplatePlace


def greedy(template: GloriaTemplate, weights: EdgeCosts) -> Path:
    path: Path = []
    for place in template.places:
        arrived = arriving(place, path)
        choices = [(), _reuse(place, arrived)]
        fitting = [sets for sets in choices if valid(place, arrived, sets)]
        path.append(min(fitting, key=lambda sets: _weight(weights, place, arrived, sets)))
    return path


def _reuse(place: TemplatePlace, arrived: QSets) -> QSets:
    begun = place.starting
    fresh = ((begun, place.source),) if begun.bit_count() > 1 else ()
    return tuple(sorted((*arrived, *fresh)))


def _weight(weights: EdgeCosts, place: TemplatePlace, arrived: QSets, sets: QSets) -> float:
    change = weights.change(place, arrived, sets, place.queries)
    return change + weights.inside(place, sets) + weights.onward(place, sets)
