"""Jobs on the Ray and Spark that all tests share, watched from outside through their hub."""

from __future__ import annotations

import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from prometheus_client.parser import text_string_to_metric_families

from cluster.faults.stream import written
from hamlet.job import input_resolver, job_setup
from hamlet.job import job_run as jobs
from hamlet.job.epoch_report import EpochReport
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import RunCounts
from runtime.pipeline.settings import Settings
from runtime.types.schema import Schema
from spark_ingest import session
from spark_ingest.sinks.file_sink import FileSink, RollingPolicy
from spark_ingest.sinks.sink import EpochSink
from tools.patience import PATIENCE_S


@dataclass
class Job:
    """Runs in a thread, from `start` to `stop`, or to the end of its input. `last` is called with
    the job when all is done, while its hub is still there."""

    cluster: Any
    spark: Any
    folder: Path
    workload: str
    name: str
    follow: bool = True
    last: Callable[[Job], None] = lambda job: None
    url: str = ""
    reports: list[EpochReport] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    outcome: jobs.JobOutcome | None = None
    scraped: str = ""  #: all metrics, when all was done
    _failed: BaseException | None = None

    def __post_init__(self) -> None:
        self.input, self.output = self.folder / "input", self.folder / "output"
        self.input.mkdir(parents=True, exist_ok=True)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    # ---- what a test does with it ----------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> RunCounts:
        """After the epochs under way."""
        self._stop.set()
        return self.end()

    def end(self) -> RunCounts:
        self._thread.join(PATIENCE_S)
        if self._failed is not None:
            raise self._failed
        assert self.outcome is not None
        return self.outcome.counts

    def wait(self, done: Callable[[], Any]) -> Any:
        """What it gives, as soon as it gives something."""
        until = time.monotonic() + PATIENCE_S
        while not (found := done()):
            if self._failed is not None:
                raise self._failed
            assert time.monotonic() < until, self.troubles
            time.sleep(0.05)
        return found

    @property
    def rows(self) -> int:
        return self.reports[-1].counts.rows if self.reports else 0

    # ---- what it hears as the screen of a job ----------------------------------------------

    def stage(self, what: str) -> None: ...

    def warn(self, what: str) -> None: ...

    def say(self, what: str) -> None: ...

    def serves(self, url: str) -> None:
        self.url = url

    def trouble(self, what: str) -> None:
        self.troubles.append(what)

    def committed(self, report: EpochReport) -> None:
        self.reports.append(report)

    # ---- the run ---------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self.outcome = self._ran()
        except BaseException as error:
            self._failed = error

    def _ran(self) -> jobs.JobOutcome:
        queries = parse(self.workload, f"{self.name}.sase")
        needs = ReadRequest("time", "type", queries.uses, Schema({}))
        asked = input_resolver.InputOptions(str(self.input), needs, follow=self.follow, unit="ms")
        return jobs.run(
            queries,
            jobs.JobOptions(
                name=self.name,
                checkpoint=str(self.folder / "checkpoint"),
                lateness=2_000_000,
                metrics_port=0,
                settings=Settings(planner="auto"),
            ),
            input_resolver.resolve_input(asked),
            self._sink,
            self,
            self._stop.is_set,
            self._done,
        )

    def _sink(self, checkpoints: CheckpointStore, bound_workload: BoundWorkload) -> EpochSink:
        names = [query.name for query in bound_workload.workload]
        return FileSink(self.output, "parquet", names, RollingPolicy(seconds=0.0))

    def _done(self, outcome: jobs.JobOutcome) -> None:
        """The hub hears of the last epoch a moment later."""
        self.wait(lambda: values(scrape(self.url))["hamlet_epochs_total"] == len(self.reports))
        self.scraped = scrape(self.url)
        self.last(self)


class RunningSession(session.GivenSession):
    """Starts nothing."""

    def launch_driver(self, cluster: Any) -> None: ...

    def begin(self, cluster: Any) -> None: ...

    def wait_for_master(self) -> None: ...


@contextmanager
def running_on(cluster: Any, spark: Any) -> Iterator[None]:
    """Jobs run there, and start nothing."""
    with (
        patch.object(job_setup, "start_cluster", lambda *_: cluster),
        patch.object(session, "SessionStart", lambda *_, **__: RunningSession(spark, cluster)),
    ):
        yield


def scrape(url: str) -> str:
    with urllib.request.urlopen(f"{url}/metrics", timeout=PATIENCE_S) as answer:
        return answer.read().decode()


def values(text: str) -> dict[str, float]:
    """By name, all series of it added up."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found


def by(text: str, name: str, label: str) -> dict[str, float]:
    """The series of a metric, by the value of a label."""
    return {
        sample.labels[label]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


def assert_agrees(job: Job, counts: RunCounts) -> None:
    """What was scraped last is what was counted and what was written."""
    text = job.scraped
    assert_counted(text, counts)
    assert_written(text, job.output)
    windows = by(text, "hamlet_windows_closed_total", "query")
    assert by(text, "hamlet_query_latency_seconds_count", "query") == windows
    assert values(text)["hamlet_epochs_total"] == len(job.reports)
    assert set(by(text, "hamlet_build_info", "hamlet_job")) == {job.name}


def assert_counted(text: str, counts: RunCounts) -> None:
    totals = values(text)
    assert totals["hamlet_rows_total"] == counts.rows
    assert totals["hamlet_events_total"] == counts.events
    assert totals["hamlet_late_rows_total"] == counts.late
    dead = by(text, "hamlet_dead_letter_rows_total", "reason")
    assert {reason: n for reason, n in dead.items() if n} == counts.dead
    results = by(text, "hamlet_results_total", "query")
    assert results == {name: counts.results[name] for name in results}


def assert_written(text: str, output: Path) -> None:
    rows = {name.removesuffix(".parquet"): n.total() for name, n in written(output).items()}
    totals = values(text)
    assert rows.pop("_late", 0) == totals["hamlet_late_rows_total"]
    assert rows.pop("_dead_letter", 0) == totals["hamlet_dead_letter_rows_total"]
    results = by(text, "hamlet_results_total", "query")
    assert {name: n for name, n in results.items() if n} == rows
