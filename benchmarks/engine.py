"""The compiled engine: against GROUP BY, shared and not shared, windows, partitions and memory.

Every figure, except memory and the HAMLET authors' workloads, is a ratio of the best times of tasks
that took turns in this run, on one core, over events in memory. Events are prepared before the
clock starts. The clock stops at the last result.

HAMLET_BENCH_EVENTS (10 million) sets the size, HAMLET_BENCH_REPEATS (3) the number of repeats.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks import _run
from benchmarks import _streams as streams
from benchmarks._environment import whole
from benchmarks._streams import Stream
from runtime.pipeline.engine import Results

Figures: TypeAlias = dict[str, float | None]

EVENTS = whole("EVENTS", streams.EVENTS)
REPEATS = whole("REPEATS", 3)
CHECKOUT = Path(__file__).parents[1]
MODES = ("dynamic", "always", "never")
AT_MOST, AT_LEAST = "at most", "at least"
# Their Java: 85.6 ms of CPU for 5,000 events and 50 queries.
AUTHORS_MS = 85.6


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    result: dict[str, Any] = {"events": EVENTS}
    with _run.one_thread():
        for what, measure in MEASURES:
            progress(what)
            result |= measure()
    return result


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [_row(name, value) for name, value in result.items()]


def _row(measure: str, value: float | None) -> dict[str, Any]:
    bound = TARGETS.get(measure)
    row = {"measure": measure, "value": "not measured" if value is None else value}
    if bound is None:
        return row | {"target": "", "met": ""}
    side, limit = bound
    return row | {"target": f"{side} {limit:,g}", "met": _met(value, side, limit)}


def _met(value: float | None, side: str, limit: float) -> str:
    if value is None:
        return ""
    return "yes" if (value <= limit if side == AT_MOST else value >= limit) else "no"


# ---- one query -----------------------------------------------------------------------------


def one_query() -> Figures:
    best = _best(streams.trends(EVENTS), "dynamic", group_by=True)
    return {
        "one_query_over_group_by": best["dynamic"] / best["group_by"],
        "one_query_ns_per_event": best["dynamic"] / EVENTS * 1e9,
    }


def many_partitions() -> Figures:
    best = _best(streams.many_partitions(EVENTS), "dynamic", group_by=True)
    return {"million_partitions_over_group_by": best["dynamic"] / best["group_by"]}


def windows() -> Figures:
    many, one = (_engine(streams.overlapping(windows, EVENTS)) for windows in (60, 1))
    best = _run.best({"60": many, "1": one}, REPEATS)
    return {"windows_60_over_1": best["60"] / best["1"]}


def adjacent() -> Figures:
    """Windows of 10^4, 10^5, 10^6 events, a million events in all."""
    total = max(1, EVENTS // 10)
    lengths = {"1e4": EVENTS // 1_000, "1e5": EVENTS // 100, "1e6": EVENTS // 10}
    works = {
        name: _engine(streams.adjacent(max(1, length), total)) for name, length in lengths.items()
    }
    best = _run.best(works, REPEATS)
    return {
        "adjacent_1e5_over_1e4": best["1e5"] / best["1e4"],
        "adjacent_1e6_over_1e5": best["1e6"] / best["1e5"],
        "adjacent_1e6_ns_per_event": best["1e6"] / total * 1e9,
    }


# ---- many queries --------------------------------------------------------------------------


def fifty_queries() -> Figures:
    return _queries(50)


def hundred_queries() -> Figures:
    return _queries(100)


def _queries(queries: int) -> Figures:
    """`own` and, after it, `few`: see `_streams.sharing`. With few starts and ends every query has
    trends in every partition, so a row for each would be a benchmark of writing rows."""
    own = _best(streams.sharing(queries, EVENTS), "dynamic", "never", group_by=True)
    few = _best(
        streams.sharing(queries, EVENTS, "few", grouped=False), "dynamic", "never", group_by=True
    )
    figures: Figures = {}
    for name, best in (("", own), ("_few", few)):
        measure = f"queries_{queries}{name}"
        figures[f"{measure}_over_group_by"] = best["dynamic"] / best["group_by"]
        figures[f"{measure}_never_over_group_by"] = _over(best.get("never"), best["group_by"])
        figures[f"{measure}_never_over_dynamic"] = _over(best.get("never"), best["dynamic"])
    return figures


def longer_parts() -> Figures:
    """50 queries that share `SEQ(P, T)+` as a plan says, against the same queries without it."""
    stream = streams.rounds(50, max(1, EVENTS // 5))
    plan = streams.rounds_plan(50)
    best = _run.best({"plan": _engine(stream, plan=plan), "none": _engine(stream)}, REPEATS)
    return {"longer_parts_none_over_plan": best["none"] / best["plan"]}


def changing() -> Figures:
    best = _best(streams.changing(EVENTS), *MODES)
    better = _better(best)
    return {
        "changing_better_over_dynamic": _over(better, best["dynamic"]),
        "changing_always_over_never": _over(best.get("always"), best.get("never")),
    }


def steady() -> Figures:
    figures: Figures = {}
    for kind in streams.KINDS:
        best = _best(streams.steady(kind, EVENTS), *MODES)
        figures[f"steady_{kind}_dynamic_over_better"] = _over(best["dynamic"], _better(best))
        figures[f"steady_{kind}_always_over_never"] = _over(best.get("always"), best.get("never"))
    return figures


def decisions() -> Figures:
    """As the engine says: the decisions it took, by the measured time of one."""
    stream = streams.sharing(50, EVENTS, burst=100)
    _run.warm(*stream, sharing="dynamic")
    seconds, engine, _ = _run.run(*stream, sharing="dynamic")
    return {"decisions_share_of_time": engine.decision_seconds() / seconds}


# ---- memory --------------------------------------------------------------------------------


def memory() -> Figures:
    _memory(1_000)  # compiles, which takes more memory than all that comes after
    found = _memory(EVENTS)
    return {
        "peak_mb_10m_events": found["peak_mb_one_tenth"],
        "peak_mb_100m_events": found["peak_mb_whole"],
        "peak_100m_over_10m": found["peak_mb_whole"] / found["peak_mb_one_tenth"],
        "bytes_per_live_lane_1_query": found["one_query"],
        "bytes_per_live_lane_50_queries": found["fifty_queries"],
    }


def _memory(events: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks._memory", str(events)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"`{' '.join(command)}` failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


# ---- the HAMLET authors' stream and workloads ----------------------------------------------


def authors() -> Figures:
    folder = streams.data_folder()
    if folder is None:
        return {"authors_ms_50_queries": None}
    figures: Figures = {}
    window = min(5_000, EVENTS)
    for queries in (10, 50, 100):
        stream = streams.authors(folder, queries, min(EVENTS, 100_000), window)
        seconds = _best(stream, "dynamic")["dynamic"]
        figures[f"authors_events_per_second_{queries}"] = stream.table.num_rows / seconds
    once = {queries: streams.authors(folder, queries, window, window) for queries in (10, 50, 100)}
    figures["authors_ms_50_queries"] = _best(once[50], "dynamic")["dynamic"] * 1e3
    figures["authors_counts_that_differ"] = float(sum(map(differing, once.values())))
    return figures


def differing(stream: Stream) -> int:
    """How many counts are not those of the plain engine: to the last digit below 2^53, else
    within 1e-9."""
    _, _, found = _run.run(*stream)
    _, _, exact = _run.run(*stream, numeric="exact")
    counts, expected = _counts(found), _counts(exact)
    missing = len(counts.keys() ^ expected.keys())
    both = counts.keys() & expected.keys()
    return missing + sum(not _same(counts[k], expected[k]) for k in both)


def _same(count: float, expected: float) -> bool:
    return count == expected if expected < 2**53 else math.isclose(count, expected, rel_tol=1e-9)


def _counts(results: list[Results]) -> dict[tuple[str, int], float]:
    """By query and window; those beyond a double as their logarithm."""
    return {
        (name, row["window_start"]): _count(row)
        for each in results
        for name, rows in each.items()
        for row in rows.to_pylist()
    }


def _count(row: dict[str, Any]) -> float:
    count = row["COUNT(*)"]
    if isinstance(count, float):
        return row["COUNT(*)_log2"] if math.isinf(count) else count
    whole = int(count)
    return float(whole) if whole < 2**1023 else math.log2(whole)


# ---- pieces --------------------------------------------------------------------------------


def _best(stream: Stream, *modes: str, group_by: bool = False) -> dict[str, float]:
    """The best times of each mode that there is, and of GROUP BY on the same table."""
    if not _run.knows("sharing"):
        modes = modes[:1]
    works: dict[str, Callable[[], float]] = {}
    if group_by:
        _run.group_by_seconds(stream.table)
        works["group_by"] = lambda: _run.group_by_seconds(stream.table)
    works |= {mode: _engine(stream, mode) for mode in modes}
    return _run.best(works, REPEATS)


def _engine(stream: Stream, mode: str = "dynamic", **options: Any) -> Callable[[], float]:
    """The engine over a stream, compiled."""
    _run.warm(*stream, sharing=mode, **options)
    return lambda: _run.seconds(*stream, sharing=mode, **options)


def _better(best: dict[str, float]) -> float | None:
    return min(best["always"], best["never"]) if "always" in best else None


def _over(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one / other


MEASURES: tuple[tuple[str, Callable[[], Figures]], ...] = (
    ("one query, against GROUP BY", one_query),
    ("50 queries that share B+, against GROUP BY", fifty_queries),
    ("100 queries that share B+, against GROUP BY", hundred_queries),
    ("50 queries that share SEQ(P, T)+, with a plan and without", longer_parts),
    ("a stream whose bursts and conditions change", changing),
    ("streams of one kind of burst", steady),
    ("what decisions cost", decisions),
    ("60 overlapping windows, against one", windows),
    ("an adjacent comparison in longer and longer windows", adjacent),
    ("a million partitions, against GROUP BY", many_partitions),
    ("memory, over a stream ten times as long", memory),
    ("the HAMLET authors' stream and workloads", authors),
)
TARGETS = {
    "one_query_over_group_by": (AT_MOST, 1.5),
    "queries_50_over_group_by": (AT_MOST, 3),
    "queries_50_never_over_dynamic": (AT_LEAST, 4),
    "queries_50_few_over_group_by": (AT_MOST, 3),
    "queries_50_few_never_over_dynamic": (AT_LEAST, 4),
    "queries_100_over_group_by": (AT_MOST, 6),
    "queries_100_few_over_group_by": (AT_MOST, 6),
    "changing_better_over_dynamic": (AT_LEAST, 1.3),
    **{f"steady_{kind}_dynamic_over_better": (AT_MOST, 1.05) for kind in streams.KINDS},
    "decisions_share_of_time": (AT_MOST, 0.002),
    "windows_60_over_1": (AT_MOST, 5),
    "adjacent_1e5_over_1e4": (AT_MOST, 2.5),
    "adjacent_1e6_over_1e5": (AT_MOST, 2.5),
    "million_partitions_over_group_by": (AT_MOST, 2),
    "peak_100m_over_10m": (AT_MOST, 1.05),
    "bytes_per_live_lane_1_query": (AT_MOST, 32),
    "bytes_per_live_lane_50_queries": (AT_MOST, 32),
    "authors_ms_50_queries": (AT_MOST, AUTHORS_MS),
    "authors_counts_that_differ": (AT_MOST, 0),
}
