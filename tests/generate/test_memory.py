"""A stream costs the same memory however long it is."""

import tracemalloc

import pyarrow as pa
import pytest

from runtime.generate import generate

BLOCK = 65_536


@pytest.mark.parametrize("name", ["ridesharing", "smarthome"])
def test_memory_does_not_grow_with_the_stream(name):
    peaks = []
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    try:
        for _ in generate(name, events=5 * BLOCK):
            peaks.append(tracemalloc.get_traced_memory()[1] + pa.total_allocated_bytes() - before)
    finally:
        tracemalloc.stop()
    assert peaks[-1] < 1.1 * peaks[1]
    assert peaks[-1] < 100_000_000
