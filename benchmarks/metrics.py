"""The cost of metrics: the engine with and without recording.

The streams of one and of 50 queries of `hamlet bench engine`. With metrics, every batch is recorded
as in a run: arrivals, results, latencies, decisions with their examples, and a hub that is scraped
once a second. `share` is the median time spent on recording, as a fraction of the rest. Both
variants also take turns as a whole, `with_over_without`. That ratio is as noisy as the engine's own
times, by a few percent.

HAMLET_BENCH_EVENTS (10 million) sets the size, HAMLET_BENCH_REPEATS (5) the number of repeats.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from threading import Event, Thread
from typing import Any
from urllib.request import urlopen

from benchmarks import _run
from benchmarks import _streams as streams
from benchmarks._environment import whole
from benchmarks._streams import Stream
from hamlet.local_metrics import LocalMetrics
from runtime.metrics.http_server import MetricsServer
from runtime.optimizer.model_report import ModelMetrics
from runtime.pipeline.manifest import RunCounts

EVENTS = whole("EVENTS", 10_000_000)
REPEATS = whole("REPEATS", 5)
SCRAPE_SECONDS = 1.0
MOST = 0.01
STREAMS: dict[str, Callable[[], Stream]] = {
    "one_query": lambda: streams.trends(EVENTS),
    "queries_50": lambda: streams.sharing(50, EVENTS),
}


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    result: dict[str, Any] = {"events": EVENTS}
    for name, made in STREAMS.items():
        progress(f"{name}: with and without metrics, in turns")
        stream = made()
        _run.warm(*stream)
        shares: list[float] = []
        works: dict[str, Callable[[], float]] = {
            "without": partial(_run.seconds, *stream),
            "with": partial(recorded, stream, shares),
        }
        best = _run.best(works, REPEATS)
        result[f"{name}_ns_per_event"] = best["without"] / EVENTS * 1e9
        result[f"{name}_metrics_share"] = median(shares)
        result[f"{name}_with_over_without"] = best["with"] / best["without"]
    return result


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [_row(name, value) for name, value in result.items()]


def _row(measure: str, value: float) -> dict[str, Any]:
    if not measure.endswith("_metrics_share"):
        return {"measure": measure, "value": value, "target": "", "met": ""}
    met = "yes" if value <= MOST else "no"
    return {"measure": measure, "value": value, "target": f"at most {MOST:g}", "met": met}


def recorded(stream: Stream, shares: list[float]) -> float:
    """Seconds for all events, with everything told. What part of it that is goes to `shares`."""
    engine = _run.engine(stream.workload)
    engine.bind(stream.table.schema)
    batches = [engine.prepare(b) for b in stream.table.to_batches(max_chunksize=_run.BATCH_ROWS)]
    with scraped() as hub:
        record = LocalMetrics("bench", engine, RunCounts(), ModelMetrics, lambda: None, [hub])
        inside = 0.0

        def told(tell: Callable[..., None], *given: Any) -> None:
            nonlocal inside
            began = time.perf_counter()
            tell(*given)
            inside += time.perf_counter() - began

        def work() -> None:
            for batch in batches:
                told(record.before_events, batch)
                told(record.after_results, engine.execute(batch))
            told(record.after_results, engine.finish())
            told(record.finish)

        seconds = _run.clock(work)
        shares.append(inside / (seconds - inside))
        return seconds


@contextmanager
def scraped() -> Iterator[MetricsServer]:
    hub, stop = MetricsServer(), Event()

    def scrape() -> None:
        while not stop.wait(SCRAPE_SECONDS):
            urlopen(f"{hub.url}/metrics").read()

    thread = Thread(target=scrape, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        stop.set()
        thread.join()
        hub.close()
