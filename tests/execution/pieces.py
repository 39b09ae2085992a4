"""A stream in pieces, as it comes to a run."""

from collections.abc import Iterator
from itertools import pairwise

import pyarrow as pa

from runtime.types.columns import times_of

FOREVER = 2**63


def pieces(events: pa.RecordBatch, cuts: list[int], ties: str) -> Iterator[pa.RecordBatch]:
    """Cut so that all events of one instant stay together."""
    times = times_of(events)
    borders = {0, events.num_rows}
    for cut in cuts:
        cut = min(cut, events.num_rows)
        while ties == "strict" and 0 < cut < len(times) and times[cut] == times[cut - 1]:
            cut += 1
        borders.add(cut)
    for start, stop in pairwise(sorted(borders)):
        yield events.slice(start, stop - start)
