"""`hamlet bench soak`: what a process is, the trend of its memory, and what is not flat."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks import soak
from benchmarks._soak import growth
from benchmarks._soak.growth import Growth
from benchmarks._soak.job import problems, summary
from benchmarks._soak.processes import DRIVER, EXPECTED, OBJECT_STORE, Memory, Series, kind_of
from runtime.errors import HamletError
from spark_ingest.jvm import SMALL

MOMENTS = [5.0 * n for n in range(721)]  # an hour
JAVA = "java -cp a.jar:b.jar"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("ray::Aggregator", "aggregator"),
        ("ray::Aggregator.compute_epoch", "aggregator"),
        ("ray::Router.route", "router"),
        ("ray::OptimizerActor", "optimizer"),
        ("ray::MetricsHubActor.update", "hub"),
        ("ray::Control", "control"),
        ("ray::DashboardAgent", "Ray's DashboardAgent"),
        ("ray::IDLE", "Ray's IDLE"),
        ("/x/ray/core/src/ray/gcs/gcs_server --log_dir=/tmp/ray", "gcs_server"),
        ("/x/ray/core/src/ray/raylet/raylet --raylet_socket_name=x", "raylet"),
        (f"{JAVA} org.apache.spark.deploy.SparkSubmit --name x pyspark-shell", "Spark driver"),
        (f"{JAVA} -Xmx1g io.ray.runtime.runner.worker.DefaultWorker", "executor"),
        (f"{JAVA} {' '.join(SMALL)} io.ray.runtime.runner.worker.DefaultWorker", "app master"),
        (f"{JAVA} org.apache.spark.deploy.raydp.AppMasterEntryPoint", "gateway"),
        ("/usr/bin/python -c from multiprocessing.resource_tracker import main", "other"),
    ],
)
def test_what_a_process_is(command: str, kind: str) -> None:
    assert kind_of(command) == kind


# ---- the trend -----------------------------------------------------------------------------


def test_the_slope_of_a_line() -> None:
    assert growth.slope([0, 5, 10], [100, 101, 102]) == pytest.approx(0.2)
    assert growth.slope([0, 5, 10], [7, 7, 7]) == 0
    assert growth.slope([3], [7]) == 0


def test_the_slope_does_not_heed_a_few_samples_that_are_far_off() -> None:
    seconds = [float(n) for n in range(40)]
    values = [100 + 0.5 * x for x in seconds]
    for place in (3, 38, 39):
        values[place] += 1_000
    assert growth.slope(seconds, values) == pytest.approx(0.5, rel=0.1)


def of(kind: str, pid: int, mb: float, per_hour: float = 0.0) -> Series:
    return Series(kind, pid, list(MOMENTS), [mb + per_hour * x / 3_600 for x in MOMENTS])


def one(found: list[Growth], kind: str) -> Growth:
    (it,) = (each for each in found if each.kind == kind)
    return it


def test_only_the_second_half_counts() -> None:
    warming = Series("executor", 7, list(MOMENTS), [min(x, 1_800.0) for x in MOMENTS])
    found = one(growth.growths([warming], MOMENTS), "executor")
    assert (found.mb, found.mb_per_hour, found.rise) == (1_800, 0, 0)
    assert found.is_flat


@pytest.mark.parametrize(
    ("mb", "per_hour", "flat"),
    [
        (100.0, 9.0, True),  # 4.5 MB in half an hour
        (100.0, 11.0, False),
        (1_000.0, 45.0, True),  # 2.25 % in half an hour
        (1_000.0, 60.0, False),
        (1_000.0, -500.0, True),
    ],
)
def test_what_is_flat(mb: float, per_hour: float, flat: bool) -> None:
    found = one(growth.growths([of("router", 7, mb, per_hour)], MOMENTS), "router")
    assert found.mb_per_hour == pytest.approx(per_hour)
    assert found.rise == pytest.approx(per_hour / 2)
    assert found.part_per_hour == pytest.approx(per_hour / (mb + per_hour * 0.75))
    assert found.is_flat is flat


def test_all_processes_together() -> None:
    found = growth.growths([of("router", 7, 100, 8), of("router", 8, 200, 8)], MOMENTS)
    assert [each.kind for each in found] == ["router", "router", growth.ALL]
    assert found[-1].mb == pytest.approx(300 + 16 * 0.75)
    assert found[-1].mb_per_hour == pytest.approx(16)


# ---- the judge -----------------------------------------------------------------------------

DONE = {"bursts_shared": 10, "policies": 3, "restarts": 0, "lost": 0}


def whole(*more: Series, without: str = "") -> list[Series]:
    """A job with one process of each kind."""
    kinds = [kind for kind in EXPECTED if kind != without]
    return [*(of(kind, 100 + n, 300.0) for n, kind in enumerate(kinds)), *more]


def result(series: list[Series], **done: Any) -> dict[str, Any]:
    found = growth.growths(series, MOMENTS)
    return {**DONE, **done, "processes": growth.as_rows(found)}


def said(judged: dict[str, Any]) -> str:
    with pytest.raises(HamletError) as raised:
        soak.judge(judged)
    return raised.value.message


def test_a_flat_job_passes() -> None:
    soak.judge(result(whole(of("aggregator", 7, 500.0, 20.0))))


def test_a_leaking_process_does_not_hide_among_others() -> None:
    large = of("executor", 8, 20_000.0)
    message = said(result(whole(large, of("aggregator", 7, 300.0, 40.0))))
    assert "aggregator (7) grows by 40 MB an hour, 12% of its 330 MB" in message
    assert message.count("\n") == 1  # and it is the only one


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_process_that_was_not_seen(kind: str) -> None:
    assert f"no process was seen that is the {kind}" in said(result(whole(without=kind)))


def test_a_process_that_was_replaced() -> None:
    before, after = of("router", 7, 300.0), of("router", 8, 300.0)
    before = Series("router", 7, before.seconds[:500], before.mb[:500])
    after = Series("router", 8, after.seconds[500:], after.mb[500:])
    message = said(result(whole(before, after)))
    assert "router (7) ended or was started in the second half" in message
    assert "router (8) ended or was started in the second half" in message


def test_what_comes_only_to_go_is_no_process_of_the_job() -> None:
    """A copy of a Java process, between its fork and the start of another program."""
    soak.judge(result(whole(Series("executor", 7, MOMENTS[600:602], [1.0, 1.0]))))


def test_ever_more_helpers_are_found_in_the_sum() -> None:
    helpers = [
        Series("other", 1_000 + n, MOMENTS[n:], [50.0] * (len(MOMENTS) - n))
        for n in range(0, 721, 60)
    ]
    assert "all grows by" in said(result(whole(*helpers)))


@pytest.mark.parametrize(
    ("done", "message"),
    [
        ({"bursts_shared": 0}, "the queries shared nothing"),
        ({"policies": 0}, "the optimizer sent no policy"),
        ({"restarts": 2}, "2 restarts"),
        ({"lost": 2_000}, "2,000 rows were late or invalid"),
    ],
)
def test_a_soak_of_half_a_job(done: dict[str, int], message: str) -> None:
    assert list(problems(DONE)) == []
    assert message in said(result(whole(), **done))


def test_the_summary_of_a_snapshot() -> None:
    types = [{"shared": 3, "split": 1}, {"shared": 2, "split": 0}]
    metrics = {
        "epochs": 5,
        "events": 100,
        "results": 7,
        "late": 2,
        "invalid_rows": {"damaged": 3},
        "groups": [{"types": types}],
        "model": {"policy": 4, "replans": [{"count": 2}, {"count": 1}]},
        "restarts": {"router": 1},
    }
    assert summary(metrics) == {
        "epochs": 5,
        "events": 100,
        "results": 7,
        "lost": 5,
        "bursts_shared": 5,
        "bursts_split": 1,
        "policies": 4,
        "replans": 3,
        "restarts": 1,
    }


def test_the_table_has_a_row_for_each_process() -> None:
    rows = soak.table(result(whole(of("aggregator", 7, 300.0, 40.0))))
    assert [row["flat"] for row in rows if row["pid"] == "7"] == ["no"]
    assert rows[-1]["process"] == growth.ALL


def test_only_files_that_were_read_are_removed(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / f"{number:07d}.parquet").touch()
    soak.remove_read(tmp_path, newest=450 * soak.SPAN + 17)
    left = sorted(int(path.stem) for path in tmp_path.iterdir())
    assert left == list(range(450 - soak.KEPT_FILES, 500))


# ---- real processes ------------------------------------------------------------------------

GROWING = """
import sys
held = []
for _ in sys.stdin:
    held.append(bytearray(b"x") * 20_000_000)
    print(len(held), flush=True)
"""


def test_the_memory_of_a_process_and_of_its_child() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", GROWING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        memory = Memory(os.getpid())
        for turn in range(4):
            print(file=child.stdin, flush=True)
            child.stdout.readline()
            memory.sample(float(turn))
        (grown,) = (each for each in memory.series if each.pid == child.pid)
        mb, processes = memory.now
        child.stdin.close()
    assert all(after - before > 15 for before, after in pairwise(grown.mb))
    assert growth.slope(grown.seconds, grown.mb) == pytest.approx(20, rel=0.2)
    kinds = {each.pid: each.kind for each in memory.series}
    assert kinds[os.getpid()] == DRIVER
    assert kinds[child.pid] == "other"
    assert kinds[0] == OBJECT_STORE
    assert processes >= 2
    assert mb > grown.mb[-1]
