"""Which queries the next-match operator supports: one vector of states for each open window."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.types as pt

from runtime.language.query import Fold, Lane, Query, Semantics

MOST_STATES = 62  # sets of them are words


def takes(query: Query, types: Mapping[str, pa.DataType]) -> bool:
    """Where what is extended leaves, partial trends must not be told apart by more than the state
    they are in. Windows of events and the order of texts are left to the general run."""
    named = [position.type for position in query.template.positions]
    return (
        query.semantics is not Semantics.ANY
        and not query.conjunctive
        and not query.adjacent
        and not query.template.negations
        and query.least_length <= 1
        and not query.window.counted
        and len(set(named)) == len(named) <= MOST_STATES
        and all(_is_number(types.get(lane.attribute or "")) for lane in extremes(query))
    )


def sums(query: Query) -> list[Lane]:
    return [lane for lane in query.lanes if lane.fold is Fold.SUM]


def extremes(query: Query) -> list[Lane]:
    return [lane for lane in query.lanes if lane.fold is not Fold.SUM]


def _is_number(data_type: pa.DataType | None) -> bool:
    """As `Batch.order` gives it; texts have ids."""
    return data_type is None or pt.is_primitive(data_type) or pt.is_null(data_type)
