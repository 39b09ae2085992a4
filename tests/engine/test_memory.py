"""State does not grow with the events seen. `hamlet bench plain` prints the figures."""

import pytest

from benchmarks.plain import peak_megabytes


@pytest.mark.slow
def test_peak_memory_of_4_million_events_is_that_of_1_million() -> None:
    one, four = peak_megabytes(1_000_000), peak_megabytes(4_000_000)
    print(f"peak {one:.0f} MB for 1 million events, {four:.0f} MB for 4 million")
    assert four < 1.15 * one
