"""From the totals of slices to result tables: partitions of a group are combined."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.baselines.decoded import Decoded, Doubles, Ints
from runtime.language.query import Fold, Measure, Query

_TOGETHER = {Fold.SUM: "sum", Fold.MIN: "min", Fold.MAX: "max"}


def answer(decoded: Decoded, window: Ints, slot: Ints, totals: Doubles) -> pa.Table:
    """`totals[i]`: how many trends slice i has, and its lanes."""
    query = decoded.query
    some = totals[:, 0] > 0
    window, slot, totals = window[some], slot[some], totals[some]
    columns = {"window": pa.array(window)}
    columns |= {name: pc.take(decoded.groups[name], slot) for name in query.group_by}
    columns |= {f"total{n}": pa.array(totals[:, n]) for n in range(totals.shape[1])}
    combined = [("total0", "sum")]
    combined += [(f"total{n}", _TOGETHER[lane.fold]) for n, lane in enumerate(query.lanes, 1)]
    keys = ["window", *query.group_by]
    found = pa.TableGroupBy(pa.table(columns), keys, use_threads=False).aggregate(combined)
    lanes = [found[f"{name}_{how}"].to_numpy() for name, how in combined]
    return _table(query, found, lanes)


def _table(query: Query, found: pa.Table, lanes: list[Doubles]) -> pa.Table:
    start = found["window"].to_numpy() * query.window.slide
    columns = {"window_start": pa.array(start), "window_end": pa.array(start + query.window.within)}
    for column in query.columns:
        if column.group is not None:
            columns[column.name] = found[column.group]
        else:
            assert column.measure is not None
            columns[column.name] = _measured(query.measures[column.measure], lanes)
    return pa.table(columns)


def _measured(measure: Measure, lanes: list[Doubles]) -> pa.Array:
    """`lanes[0]` is COUNT(*); those of the query come after it."""
    if not measure.lanes:
        return pa.array(lanes[0])
    first = lanes[1 + measure.lanes[0]]
    if measure.function in ("MIN", "MAX"):
        return pa.array(first, mask=np.isinf(first))
    if measure.function not in ("SUM", "AVG"):
        return pa.array(first)
    divisor = lanes[1 + measure.lanes[1]]
    with np.errstate(invalid="ignore"):
        value = first if measure.function == "SUM" else first / divisor
    return pa.array(value, mask=divisor == 0)
