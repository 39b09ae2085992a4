"""The greedy optimizer that the paper compares with (8.1): pool by pool, without a look ahead.

Queries that begin at the same type can share from there, and go on with the snapshots they have;
new ones are never made on the way. At each pool, sharing so or not at all is chosen by the weight
of the edges that lead into it.
"""

from __future__ import annotations

from runtime.plan.planners.gloria.edge_cost import EdgeCosts, valid
from runtime.plan.planners.gloria.search import Path, arriving
from runtime.plan.planners.gloria.template import GloriaTemplate, QSets, TemplatePlace


def greedy(template: GloriaTemplate, weights: EdgeCosts) -> Path:
    path: Path = []
    for place in template.places:
        arrived = arriving(place, path)
        choices = [(), _reused(place, arrived)]
        fitting = [sets for sets in choices if valid(place, arrived, sets)]
        path.append(min(fitting, key=lambda sets: _weight(weights, place, arrived, sets)))
    return path


def _reused(place: TemplatePlace, arrived: QSets) -> QSets:
    begun = place.starting
    fresh = ((begun, place.source),) if begun.bit_count() > 1 else ()
    return tuple(sorted((*arrived, *fresh)))


def _weight(weights: EdgeCosts, place: TemplatePlace, arrived: QSets, sets: QSets) -> float:
    change = weights.change(place, arrived, sets, place.queries)
    return change + weights.inside(place, sets) + weights.onward(place, sets)
