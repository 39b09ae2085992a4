"""Snapshots of metrics with decisions, and with hostile names."""

from runtime.metrics.collector import EpochStats, MetricsCollector
from runtime.metrics.snapshot import MetricsSnapshot
from runtime.plan.decisions import BurstTiming, DecisionExample, Decisions, TypeDecisions

EVIL = [
    "<img src=x onerror=alert(1)>",
    'quote" backslash\\ \\" \\\\n',
    'two\nlines\n# TYPE evil counter\nevil_total{a="b"} 1',
    '"} 1\nevil 2',
    "# EOF\n",
    "ends with \\",
    "carriage\rreturn\u2028\x85\x0b\x0c",
    "\x1b[2J \u202e \0",
    "x" * 5_000,
    "",
]


def decided(*queries: str, shared: int = 0, split: int = 0, type_: str = "B") -> Decisions:
    counts = TypeDecisions(
        type_, shared, split, 0, 0, 10 * (shared + split), 3 * shared, 5.0, BurstTiming(1, 100)
    )
    example = DecisionExample(type_, "shared", 10, 3, 2, len(queries), 5.0, shared + split)
    return Decisions(queries, (counts,), (example,))


def named(evil: str) -> MetricsSnapshot:
    """A job, a query, a type and a reason of this name."""
    collector = MetricsCollector(evil, "ray", [evil])
    collector.record_epoch(
        EpochStats(
            0,
            events=1,
            invalid_rows={evil: 1},
            results={evil: 2},
            latencies={evil: [0.3]},
            decided={"0": [decided(evil, "other", shared=1, type_=evil)]},
        )
    )
    return collector.snapshot
