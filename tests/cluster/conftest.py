"""One embedded Ray and one Spark session for all tests of this folder, and runs of their own."""

import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runtime.errors import HamletError

ROOT = Path(__file__).parents[2]
PROBE = "hamlet-probe.txt"


def pytest_collection_modifyitems(items):
    """A session takes 20 seconds and three gigabytes: all tests share one, and those that start
    another are slow."""
    for item in items:
        if Path(__file__).parent in item.path.parents and "run" in item.fixturenames:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def jar(tmp_path_factory) -> Path:
    """A jar to be found on class paths."""
    path = tmp_path_factory.mktemp("jars") / "probe.jar"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(PROBE, "found")
    return path


@pytest.fixture(scope="session")
def jars_of_kafka() -> list[Path]:
    """None where they cannot be fetched: only the tests of Kafka need them."""
    from spark_ingest.jars import kafka_jars

    try:
        return kafka_jars()
    except HamletError:
        return []


@pytest.fixture(scope="session")
def needs_of_delta():
    """None where its archives cannot be fetched."""
    from spark_ingest.jars import fetched
    from spark_ingest.sources.spark_format import NEEDS

    try:
        fetched(NEEDS["delta"].jars)
    except HamletError:
        return None
    return NEEDS["delta"]


@pytest.fixture
def delta(needs_of_delta):
    if needs_of_delta is None:
        pytest.skip("tool: Delta Lake is not to be had")


@pytest.fixture(scope="session")
def cluster():
    from actors import cluster
    from spark_ingest import session

    with cluster.start(session.environment(embedded=True)) as running:
        yield running


@pytest.fixture(scope="session")
def spark(cluster, jar, jars_of_kafka, needs_of_delta):
    from spark_ingest import session
    from spark_ingest.jars import fetched
    from spark_ingest.spark_needs import SparkNeeds

    size = session.SparkSize(executors=1, cores=2, memory="1g", partitions=2)
    needs = needs_of_delta or SparkNeeds()
    jars = [jar, *jars_of_kafka, *fetched(needs.jars)]
    yield session.start(cluster, size, jars=jars, settings=dict(needs.settings))
    session.stop()


@pytest.fixture(scope="session")
def actor_pool(spark) -> Iterator[Callable[[int], object]]:
    """`actor_pool(2)` are two aggregators with routers, the same ones for every test that asks."""
    from actors.actor_pool import ActorPool

    crews: dict[int, ActorPool] = {}

    def of_size(size: int) -> ActorPool:
        if size not in crews:
            crews[size] = ActorPool(size, min(size, 2))
        return crews[size]

    yield of_size
    for each in crews.values():
        each.close()


@pytest.fixture
def run(tmp_path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """`run(code)` is a Python process of its own, with pipes; interrupts reach it."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, **env: str | None) -> "subprocess.Popen[str]":
        given = {**os.environ, "PYTHONPATH": str(ROOT), **env}
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={name: value for name, value in given.items() if value is not None},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_heed_interrupts,  # noqa: PLW1509
        )
        started.append(process)
        return process

    yield start
    for one in started:
        one.kill()
        one.wait()


def _heed_interrupts() -> None:
    """Tests in the background of a shell are started deaf to Ctrl-C, and so are their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
