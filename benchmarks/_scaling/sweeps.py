"""One size after the other, everything else fixed: what an event costs in one process.

Kernels are general ones throughout. Those made for a workload are quicker by a factor that does not
depend on these sizes, and a thousand queries would be compiled for minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import _run
from benchmarks import _streams as streams
from benchmarks._scaling.measure import Work, in_turns
from benchmarks._scaling.store import Row, timed
from benchmarks._streams import Stream


@dataclass(frozen=True)
class Variant:
    """A stream for a size and a number of events, and how the engine runs it. `closing`: until its
    windows are closed and results are there; else without results, which cost so much for a query
    and window that those of a thousand queries would be all that one sees."""

    made: Callable[[int, int], Stream]
    options: Mapping[str, Any]
    closing: bool
    full: int  #: events
    quick: int
    tiny: int


@dataclass(frozen=True)
class Sweep:
    name: str
    label: str
    full: tuple[int, ...]  #: sizes
    quick: tuple[int, ...]
    tiny: tuple[int, ...]
    fixed: str  #: what is fixed, for readers
    variants: Mapping[str, Variant]


def _plain(
    made: Callable[[int, int], Stream],
    events: int,
    quick: int,
    tiny: int = 600,
    closing: bool = True,
    **options: Any,
) -> Variant:
    return Variant(made, options, closing, events, quick, tiny)


def _queries(size: int, events: int) -> Stream:
    """32 starts and 32 ends, so that no two of a thousand queries are the same. Few keys, so that
    each has all starts and ends in a window."""
    keys = max(1, events // 10_000)
    return streams.sharing(size, events, "few", windows=1, grouped=False, ends=32, keys=keys)


SWEEPS = (
    Sweep(
        "partitions",
        "partitions",
        (10, 100, 1_000, 10_000, 100_000, 1_000_000),
        (10, 100, 1_000, 10_000, 100_000),
        (1, 2, 4, 8, 16),
        "one query `SEQ(A, B+)`, one window, keys spread over all whole numbers",
        {
            "a row for all": _plain(
                lambda size, events: streams.partitions(size, events, grouped=False),
                10_000_000,
                1_000_000,
            ),
            "a row for each": _plain(streams.partitions, 10_000_000, 1_000_000),
        },
    ),
    Sweep(
        "queries",
        "queries",
        (1, 3, 10, 30, 100, 300, 1_000),
        (1, 3, 10, 30, 100, 300, 1_000),
        (1, 2, 3, 4, 5),
        "`SEQ(Ai, B+, Cj)`, no two the same, bursts of 120, every query has trends in every "
        "partition; one window, which stays open, so that results are not in it",
        {
            "shared": _plain(_queries, 1_000_000, 100_000, closing=False, sharing="dynamic"),
            "not shared": _plain(_queries, 1_000_000, 100_000, closing=False, sharing="never"),
        },
    ),
    Sweep(
        "windows",
        "windows that an event is in",
        (1, 2, 5, 10, 20, 40, 60, 120),
        (1, 5, 20, 60, 120),
        (1, 2, 3, 4, 6),
        "one query `SEQ(A, B+)`, windows of the same length",
        {
            "overlapping": _plain(
                lambda size, events: streams.overlapping(size, events, longest=120, panes=480),
                10_000_000,
                1_000_000,
            ),
        },
    ),
    Sweep(
        "length",
        "events in a window",
        (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
        (1_000, 3_000, 10_000, 30_000, 100_000, 300_000),
        (10, 20, 30, 40, 50),
        "one query `S+`, no partitions, one window after the other",
        {
            "no condition": _plain(
                lambda size, events: streams.adjacent(size, events, condition=False),
                1_000_000,
                300_000,
            ),
            "adjacent condition": _plain(streams.adjacent, 1_000_000, 300_000),
        },
    ),
    Sweep(
        "pattern",
        "types in the pattern",
        (2, 4, 6, 8, 12, 16),
        (2, 4, 8, 12, 16),
        (2, 3, 4, 5, 6),
        "one query, 100 partitions, as many types in the stream as in the pattern",
        {
            "sequence": _plain(partial(streams.positions, kleene=False), 2_000_000, 200_000),
            "each repeated": _plain(partial(streams.positions, kleene=True), 2_000_000, 200_000),
        },
    ),
)


def measured(sweep: Sweep, repeats: int, scale: str = "full") -> list[Row]:
    """`scale`: full, quick, or tiny for tests. Points of all variants take turns."""
    works, keys, rows = {}, {}, {}
    for variant, how in sweep.variants.items():
        for size in getattr(sweep, scale):
            name = f"{variant} {size}"
            stream = how.made(size, getattr(how, scale))
            works[name] = _engine(stream, how)
            keys[name], rows[name] = (variant, size), stream.table.num_rows
    return [
        timed("sweep", sweep.name, *keys[name], rows[name], times)
        for name, times in in_turns(works, repeats).items()
    ]


def _engine(stream: Stream, how: Variant) -> Work:
    """An engine takes a stream once. Columns are made ready before the clock."""
    options = dict(how.options)
    maker = _run.engine(stream.workload, kernels="general", **options)
    maker.bind(stream.table.schema)
    batches = [maker.prepare(each) for each in stream.table.to_batches(_run.BATCH_ROWS)]

    def ready() -> Callable[[], Any]:
        engine = _run.engine(maker.workload, kernels="general", **options)  # type: ignore[arg-type]
        engine.bind(stream.table.schema)

        def work() -> None:
            for batch in batches:
                engine.execute(batch)
            if how.closing:
                engine.finish()

        return work

    return ready
