"""A real Prometheus that scrapes real jobs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cluster.faults import processes
from cluster.monitoring import job as jobs
from cluster.monitoring import rides
from cluster.monitoring.job import Job
from monitoring.expressions import rules
from runtime.pipeline.manifest import RunCounts
from tools.patience import PATIENCE_S
from tools.prometheus import NotToBeHad, Prometheus, programs

#: `rate` looks back for so long; Grafana has it from the interval of scrapes.
RATE_S = 60
#: How long the job is watched after all that was done to it.
STEADY_S = 10.0
PACE_S = 0.7


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory) -> Iterator[Prometheus]:
    try:
        programs()
    except NotToBeHad as error:
        pytest.skip(f"tool: {error}")
    server = Prometheus(tmp_path_factory.mktemp("prometheus"))
    yield server
    server.stop()


@pytest.fixture
def job(cluster, spark, tmp_path) -> Iterator[Callable[..., Job]]:
    """`job(name, workload)` is one that has not been started."""
    with jobs.running_on(cluster, spark):
        yield lambda name, workload, **given: Job(
            cluster, spark, tmp_path / name, workload, name, **given
        )


@dataclass
class Watched:
    """A job from its start to its end, as Prometheus saw it."""

    prometheus: Prometheus
    job: Job
    counts: RunCounts
    start: float
    end: float

    def substituted(self, expr: str) -> str:
        """As Grafana does it before it asks, with everything chosen."""
        for name, value in (
            ("$__rate_interval", f"{RATE_S}s"),
            ("$__range", f"{self.end - self.start:.0f}s"),
            ("$job", self.job.name),
            ("$group", ".*"),
            ("$query", ".*"),
        ):
            expr = expr.replace(name, value)
        assert "$" not in expr, expr
        return expr


@pytest.fixture(scope="session")
def watched(prometheus, cluster, spark, tmp_path_factory) -> Iterator[Watched]:
    """Rows are late, rows are bad, a query is added, and an aggregator is killed."""
    folder = tmp_path_factory.mktemp("watched")
    job = Job(cluster, spark, folder, rides.SHARING + rides.APART, f"watched-{os.getpid()}")
    feeder = rides.Feeder(job.input, rides.stream(), PACE_S)
    others = set(processes.of("aggregator"))
    with jobs.running_on(cluster, spark):
        feeder.start()
        start = time.time()
        job.start()
        job.wait(lambda: job.url)
        prometheus.watch(job.url)
        job.wait(lambda: len(job.reports) >= 3)
        add(job, folder)
        mine = sorted(set(processes.of("aggregator")) - others)
        processes.kill(mine[0])
        job.wait(lambda: job.troubles)
        epochs = len(job.reports)
        job.wait(lambda: len(job.reports) >= epochs + 2)
        job.wait(lambda: jobs.values(jobs.scrape(job.url))["hamlet_replans_total"])
        time.sleep(STEADY_S)
        end = job.wait(lambda: scraped_at(prometheus, job))
        feeder.stop()
        yield Watched(prometheus, job, job.stop(), start, end)


def scraped_at(prometheus: Prometheus, job: Job) -> float | None:
    """When Prometheus had all values of a job, if it has them now. On a busy machine a scrape may
    fail, and until the next one there are none."""
    of = f'{{hamlet_job="{job.name}"}}'
    moment = prometheus.value(f"timestamp(hamlet_start_timestamp_seconds{of})")
    recorded = [rule["record"] for rule in rules("record")]
    if moment is None or not all(prometheus.now(name + of, moment) for name in recorded):
        return None
    return moment


def add(job: Job, folder: Path) -> None:
    """A query, as a user does it."""
    (folder / "more.sase").write_text(rides.MORE)
    code = "from hamlet.cli import main; main()"
    command = [sys.executable, "-c", code, "query", "add", "more.sase", "--job", job.name]
    env = {**os.environ, "PYTHONPATH": str(rides.ROOT)}
    subprocess.run(command, cwd=folder, env=env, check=True, timeout=PATIENCE_S)
