"""Groups rows by their shard. Spark computes the shards (`spark_ingest.pipeline.partition`)."""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import cached_njit


@cached_njit
def by_shard(shards, keep, count):  # type: ignore[no-untyped-def]
    """The kept rows, by shard and in order within each, and the start of each shard."""
    starts = np.zeros(count + 1, np.int64)
    for row in range(len(shards)):
        if keep[row]:
            starts[shards[row] + 1] += 1
    for shard in range(count):
        starts[shard + 1] += starts[shard]
    places = starts.copy()
    rows = np.empty(starts[count], np.int64)
    for row in range(len(shards)):
        if keep[row]:
            shard = shards[row]
            rows[places[shard]] = row
            places[shard] += 1
    return rows, starts
