"""Whole jobs: which process is what, and that one runs, on few events."""

import os
from dataclasses import replace

import pytest

from benchmarks import _pipeline as pipeline
from benchmarks._cpu_time import cpu_time, kind_of
from benchmarks._scaling import job
from benchmarks._scaling.store import Measured


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("java -cp a.jar -Dspark.driver.port=33389 io.ray...DefaultWorker", "Spark executors"),
        ("java -cp a.jar io.ray.runtime.runner.worker.DefaultWorker", "Spark's masters"),
        ("java org.apache.spark.deploy.SparkSubmit --conf spark.executor.x=1", "Spark's driver"),
        ("ray::Aggregator.take", "aggregators"),
        ("ray::Router", "routers"),
        ("ray::MetricsHubActor", "other actors"),
        ("/x/ray/core/src/ray/raylet/raylet --raylet_socket_name=x", "Ray"),
    ],
)
def test_what_a_process_is(command: str, kind: str) -> None:
    assert kind_of(command) == kind


def test_cpu_time_is_that_of_this_process_where_it_has_no_others() -> None:
    _, cpu = cpu_time(lambda: sum(range(3_000_000)))
    assert cpu["driver"] > 0


@pytest.mark.slow
def test_a_job_on_one_core(tmp_path) -> None:
    large = pipeline.written(tmp_path / "large", 5_000)
    small = pipeline.written(tmp_path / "small", 300, file_rows=100)
    request = job.JobRequest(
        str(large.folder),
        large.workload.source.text,
        large.rows,
        str(small.folder),
        small.workload.source.text,
        cores=1,
        aggregators=(1, 2),
        repeats=1,
    )
    before = os.sched_getaffinity(0)
    found = Measured(job.in_process(request), {})
    assert os.sched_getaffinity(0) == before
    assert [row.at for row in found.of("job", "1 cores")] == [1, 2]
    for kind in ("Spark executors", "Spark's driver", "aggregators", "driver"):
        assert found.one("job", "1 cores", kind, 2).cpu_ns > 0
    for kind in ("routers", "Ray"):  # which may take less than a tick of the clock
        assert found.one("job", "1 cores", kind, 2).cpu_ns >= 0
    assert found.one("job", "epochs, 1 cores").events == 3
    assert found.value("epoch events", "1 cores") == 100
    assert found.value("job epochs", "1 cores", 2) >= 1
    assert found.value("job rows", "1 cores", 2) > 0
    with pytest.raises(RuntimeError, match="a job with 1 cores failed"):
        job.in_process(replace(request, folder=str(tmp_path / "none")))
