"""A run in one process counts what it writes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from prometheus_client import CollectorRegistry, generate_latest

from cluster.monitoring import rides
from cluster.monitoring.job import by, values
from hamlet.cli.enums import OutputFormat
from hamlet.cli.local import LocalInput, LocalMonitoring, LocalOutput, run_in_process
from hamlet.cli.stderr import Notices
from runtime.language.parser import parse
from runtime.metrics.prometheus import PrometheusCollector
from runtime.metrics.snapshot import MetricsSnapshot
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings


class Kept:
    """The newest facts, as they would be scraped."""

    def __init__(self) -> None:
        self._facts: MetricsSnapshot | None = None
        self._registry = CollectorRegistry()
        self._registry.register(PrometheusCollector(lambda: self._facts))

    def update(self, facts: MetricsSnapshot) -> None:
        self._facts = facts

    def scraped(self) -> str:
        return generate_latest(self._registry).decode()


def test_totals(tmp_path: Path):
    input, output, kept = tmp_path / "rides.parquet", tmp_path / "output", Kept()
    table = pa.concat_tables(rides.files(3))
    pq.write_table(table, input)
    run_in_process(
        parse(rides.SHARING),
        Settings(planner="auto"),
        LocalInput(str(input), InputFormat("time", "type", "ms")),
        LocalOutput(output, OutputFormat.PARQUET, limit=20),
        LocalMonitoring("here", (kept,)),
        Notices(quiet=True),
        explain_sharing=False,
    )
    text, totals = kept.scraped(), values(kept.scraped())
    dead = 2 * 2 * rides.BAD
    assert totals["hamlet_rows_total"] == table.num_rows
    assert totals["hamlet_events_total"] == table.num_rows - dead
    assert totals["hamlet_dead_letter_rows_total"] == dead
    assert pq.read_table(output / "_dead_letter").num_rows == dead
    results = by(text, "hamlet_results_total", "query")
    assert len(results) == 6
    for name, number in results.items():
        assert pq.read_table(output / f"{name}.parquet").num_rows == number > 0
    assert by(text, "hamlet_query_latency_seconds_count", "query") == by(
        text, "hamlet_windows_closed_total", "query"
    )
    assert by(text, "hamlet_build_info", "hamlet_job") == {"here": 1.0}
    assert "hamlet_checkpoint_timestamp_seconds" not in totals
