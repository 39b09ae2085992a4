"""Rows by their shards."""

import numpy as np

from runtime.pipeline.partitioner import by_shard


def test_rows_by_shard_keep_their_order() -> None:
    shards = np.array([2, 0, 2, 1, 0, 2], np.int32)
    keep = np.array([True, True, True, True, False, True])
    rows, starts = by_shard(shards, keep, 4)
    assert rows.tolist() == [1, 3, 0, 2, 5]
    assert starts.tolist() == [0, 1, 2, 5, 5]
