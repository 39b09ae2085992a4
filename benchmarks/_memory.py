"""Prints peak memory over a long stream and bytes of state, as JSON.

It runs in its own process: `python -m benchmarks._memory EVENTS`, where EVENTS is a tenth of the
stream.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from benchmarks import _streams as streams
from benchmarks._run import BATCH_ROWS, engine
from runtime.language.query import Workload
from runtime.pipeline.engine import Engine

TENTHS = 10
RETURNS = "COUNT(*), SUM(B.x), MIN(B.x)"


def main(events: int) -> None:
    first, last = peaks(events)
    one = streams.trends(events, windows=1, returns=RETURNS)
    fifty = streams.sharing(50, max(1, events // 10), "few", windows=1)
    measured = {
        "peak_mb_one_tenth": first,
        "peak_mb_whole": last,
        "one_query": bytes_per_lane(one),
        "fifty_queries": bytes_per_lane(fifty),
    }
    print(json.dumps(measured))


def peaks(events: int) -> tuple[float, float]:
    """After a tenth of the stream and after all of it. Every piece of it is made when its turn
    comes, is one window long, and has partitions that no piece had before."""
    piece = max(1, events // TENTHS)
    workload, table = streams.trends(piece, max(1, events // 1_000), 1, returns=RETURNS)
    running = engine(workload)
    running.bind(table.schema)
    largest, measured = 0.0, []
    for turn in range(TENTHS * TENTHS):
        later = streams.shifted(table, turn * piece, turn * events)
        for batch in later.to_batches():
            running.execute(running.prepare(batch))
            largest = max(largest, resident_mb())
        if turn + 1 in (TENTHS, TENTHS * TENTHS):
            measured.append(largest)
    running.finish()
    return measured[0], measured[-1]


def resident_mb() -> float:
    """The memory that the process holds now. (The peak that the system keeps for a process begins
    with that of the process that started it.)"""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def bytes_per_lane(stream: streams.Stream) -> float | None:
    """With the only window still open. A lane: a count, a sum or a minimum, of a partition, a
    query, a state and a window."""
    running = engine(stream.workload)
    running.bind(stream.table.schema)
    for batch in stream.table.to_batches(BATCH_ROWS):
        running.execute(running.prepare(batch))
    size = state_bytes(running)
    partitions = len(stream.table.column("key").unique())
    return None if size is None else size / (partitions * lanes(running.workload))


def lanes(workload: Workload) -> int:
    """Of one partition in one window."""
    return sum(len(query.template.positions) * (1 + len(query.lanes)) for query in workload)


def state_bytes(running: Engine) -> int | None:
    measure = getattr(running, "state_bytes", None)
    return None if measure is None else int(measure())


if __name__ == "__main__":
    main(int(sys.argv[1]))
