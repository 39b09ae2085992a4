"""Counts events with a null in a partition attribute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from runtime.types.columns import TYPE


def null_keys(events: pa.RecordBatch, keys: Mapping[str, frozenset[str]]) -> Counter[str]:
    """How many events have a null in each partition attribute, among the types of the queries that
    use it. A null key is a partition of its own, but usually an error in the data."""
    found: Counter[str] = Counter()
    for name, types in keys.items():
        column = events.column(name)
        if column.null_count:
            names = events.column(TYPE).cast(pa.string())
            named = pc.is_in(names, pa.array(sorted(types), pa.string()))
            found[name] += pc.sum(pc.and_(column.is_null(), named)).as_py() or 0
    return found
