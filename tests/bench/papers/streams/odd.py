"""A stream for tests of the framework."""

from typing import NamedTuple

import pyarrow as pa

from benchmarks import _streams

WINDOWS = 4


class Made(NamedTuple):
    workload: str
    table: pa.Table
    window_events: int | None


def changing(events: int = 2_000, queries: int = 4, kind: str = "long_agreeing") -> Made:
    kinds = (kind, "short_differing")
    workload, table = _streams.changing(events, queries, kinds, windows=WINDOWS, phase=1)
    return Made(workload, table, table.num_rows // WINDOWS)
