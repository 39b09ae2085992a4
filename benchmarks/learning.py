"""The cost model that learns: from coefficients wrong by a factor of 100 to the best fixed ones.

A pane of a stream is a batch. After each batch, a `CostModelFitter` gets the timed bursts, and the
engine adopts the policy that it returns, if any; this is part of the time. From the 21st pane on,
the time is compared with that of the best fixed policy: as calibrated, always share, never share,
and with overlapping windows also always cross panes and never cross panes. All engines of a stream
take turns, pane by pane, so that a slow period of the machine affects all. Times are CPU times, so
other load does not count. A ratio is the median of the repeats. `correlation` is that of predicted
and measured burst times, predicted before the burst was learned from: the smallest over all starts,
for the last bursts of a stream. `means_correlation` is the same for the means of bursts with about
the same prediction, or 0 if all bursts of a stream are of one kind.

HAMLET_BENCH_EVENTS (4 million) sets the events per stream, HAMLET_BENCH_REPEATS (3) the repeats.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks import _run
from benchmarks import _streams as streams
from benchmarks._environment import whole
from benchmarks._streams import Stream
from runtime.execution.operators.graphlet.calibrate import calibrated
from runtime.optimizer.cost_fit import CostModelFitter
from runtime.plan.policy import Policy

EVENTS = whole("EVENTS", 4_000_000)
REPEATS = whole("REPEATS", 3)
PANES, LEARNING, QUERIES = 40, 20, 60
WRONG, NEVER, ALWAYS = 100.0, 1e6, 1e-6

# What a query pays alone, what queries pay to share, what they pay for a pane.
ALONE = ("scan", "operator", "apply")
TOGETHER = ("pick", "compare", "walk", "join")
PANE = ("cross",)
EVERY = (*ALONE, *TOGETHER, *PANE, "beside", "decide")
GROUPS = {"alone": ALONE, "together": TOGETHER, "every": EVERY}


class Times(NamedTuple):
    """Seconds by setting and start, of one repeat, and the correlations of the starts."""

    fixed: dict[str, float]
    learned: dict[str, float]
    correlations: list[float]
    of_kinds: list[float]


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    result: dict[str, Any] = {"events": EVENTS, "panes": PANES}
    for name, (stream, overlaps) in STREAMS.items():
        progress(f"{name}: wrong starts and fixed policies take turns")
        made = stream()
        _run.warm(*made)
        repeats = [measure(made, overlaps) for _ in range(REPEATS)]
        result |= {f"{name}_{what}": value for what, value in figures(repeats).items()}
    return result


def figures(repeats: list[Times]) -> dict[str, float]:
    best = [min(each.fixed.values()) for each in repeats]
    over = {
        f"fixed_{setting}_over_best": [each.fixed[setting] for each in repeats]
        for setting in repeats[0].fixed
    } | {
        f"from_{start}_over_best": [each.learned[start] for each in repeats]
        for start in repeats[0].learned
    }
    ratios = {
        name: median(taken / least for taken, least in zip(times, best, strict=True))
        for name, times in over.items()
    }
    after = EVENTS * (PANES - LEARNING) / PANES
    return {
        "best_fixed_ns_per_event": min(best) / after * 1e9,
        **ratios,
        "correlation": median(min(each.correlations, default=0.0) for each in repeats),
        "means_correlation": median(min(each.of_kinds, default=0.0) for each in repeats),
    }


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [_row(name, value) for name, value in result.items()]


def _row(measure: str, value: float) -> dict[str, Any]:
    row = {"measure": measure, "value": value, "target": "", "met": ""}
    for ending, (side, limit) in TARGETS.items():
        if measure.endswith(ending) and "_fixed_" not in measure:
            met = value <= limit if side == "at most" else value >= limit
            return row | {"target": f"{side} {limit:g}", "met": "yes" if met else "no"}
    return row


# ---- policies ------------------------------------------------------------------------------


def starts(overlaps: bool) -> dict[str, Policy]:
    """The calibrated policy with some coefficients too dear or too cheap."""
    groups = GROUPS | ({"pane": PANE} if overlaps else {})
    return {
        f"{group}_{word}": _times(calibrated(), names, by)
        for group, names in groups.items()
        for word, by in (("too_dear", WRONG), ("too_cheap", 1 / WRONG))
    }


def fixed(overlaps: bool) -> dict[str, Policy]:
    right = calibrated()
    found = {
        "calibrated": right,
        "sharing": _times(right, TOGETHER, ALWAYS),
        "splitting": _times(right, TOGETHER, NEVER),
    }
    if overlaps:
        found["crossing"] = _times(right, PANE, ALWAYS)
        found["stepping"] = _times(right, PANE, NEVER)
    return found


def _times(policy: Policy, names: tuple[str, ...], by: float) -> Policy:
    values = asdict(policy)
    return replace(policy, **{name: by * values[name] for name in names})


# ---- measuring -----------------------------------------------------------------------------


class _Runner:
    """An engine by a policy that stays, or by one that is learned from."""

    def __init__(self, stream: Stream, policy: Policy, *, learns: bool) -> None:
        self._engine = _run.engine(stream.workload)
        self._engine.bind(stream.table.schema)
        self._engine.set_policy(policy)
        self.learner = CostModelFitter(policy) if learns else None
        self.seconds: list[float] = []

    def take(self, pane: pa.RecordBatch) -> None:
        events = self._engine.prepare(pane)
        began = time.process_time()
        self._engine.execute(events)
        if self.learner is not None:
            better = self.learner.learn(self._engine.take_samples())
            if better is not None:
                self._engine.set_policy(replace(better, version=better.version + 1))
        self.seconds.append(time.process_time() - began)


def measure(stream: Stream, overlaps: bool) -> Times:
    settings = {n: _Runner(stream, p, learns=False) for n, p in fixed(overlaps).items()}
    learned = {n: _Runner(stream, p, learns=True) for n, p in starts(overlaps).items()}
    size = -(-stream.table.num_rows // PANES)
    gc.collect()
    gc.disable()
    try:
        for pane in stream.table.combine_chunks().to_batches(max_chunksize=size):
            for runner in (*settings.values(), *learned.values()):
                runner.take(pane)
    finally:
        gc.enable()
    learners = [each.learner for each in learned.values() if each.learner]
    correlations = [each.correlation for each in learners]
    of_kinds = [each.kinds_correlation for each in learners]
    return Times(
        {name: sum(each.seconds[LEARNING:]) for name, each in settings.items()},
        {name: sum(each.seconds[LEARNING:]) for name, each in learned.items()},
        [each for each in correlations if each is not None],
        [each for each in of_kinds if each is not None],
    )


# ---- streams -------------------------------------------------------------------------------


def steady(kind: str) -> Stream:
    return mixed((kind,))


def mixed(kinds: tuple[str, ...]) -> Stream:
    """A kind of burst in each pane, in turn."""
    return streams.changing(EVENTS, QUERIES, kinds, windows=PANES, phase=1, seed=2)


def few_classes() -> Stream:
    """Long bursts of only two values: queries differ, but most of them alike."""
    workload, table = steady("long_differing")
    x = np.where(table.column("x").to_numpy() < 500, 50.0, 550.0)
    return Stream(workload, table.set_column(table.schema.get_field_index("x"), "x", pa.array(x)))


def overlapping(events: int = 25, windows: int = 12, queries: int = 4) -> Stream:
    """Every event in as many windows as said, with so many events of a partition in a pane."""
    pane = max(1, EVENTS // PANES)
    draw = np.random.default_rng(2)
    table = streams.trends(pane * PANES, keys=max(1, pane // events), seed=2).table
    x = np.floor(draw.random(table.num_rows) * 1_000)
    table = table.set_column(table.schema.get_field_index("x"), "x", pa.array(x))
    workload = "\n".join(
        f"QUERY q{n} RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) "
        f"WHERE [key] AND B.x < {1_000 - 200 * n} WITHIN {windows * pane} us SLIDE {pane} us"
        for n in range(queries)
    )
    return Stream(workload, table)


STREAMS: dict[str, tuple[Callable[[], Stream], bool]] = {
    "long_differing": (lambda: steady("long_differing"), False),
    "short_differing": (lambda: steady("short_differing"), False),
    "few_classes": (few_classes, False),
    "all_kinds": (lambda: mixed(tuple(streams.KINDS)), False),
    "windows": (overlapping, True),
}
TARGETS = {"_over_best": ("at most", 1.1), "all_kinds_correlation": ("at least", 0.9)}
