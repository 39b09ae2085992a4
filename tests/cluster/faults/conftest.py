"""Jobs on one Ray and one Spark, and what they write if nothing disturbs them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.faults.command import Command
from cluster.faults.job import Jobs, RecordingScreen
from cluster.faults.stream import written


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Faults take their time: all tests in this folder are slow."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def job(cluster, spark, tmp_path) -> Jobs:
    return Jobs(cluster, spark, tmp_path)


@pytest.fixture
def command(tmp_path) -> Iterator[Command]:
    command = Command(tmp_path)
    yield command
    command.stop()


@pytest.fixture(scope="session")
def undisturbed(cluster, spark, tmp_path_factory):
    """Of all files, by folder: every row, and how often."""
    job = Jobs(cluster, spark, tmp_path_factory.mktemp("undisturbed"))
    job.fill()
    seen = RecordingScreen()
    job.run(seen)
    assert not seen.troubles
    found = written(job.output)
    names = {"rises", "ends", "by_district", "lone"}
    assert set(found) == {f"{name}.parquet" for name in names} | {"_late", "_dead_letter"}
    assert all(rows.total() > 100 for rows in found.values())
    assert all(set(found[f"{name}.parquet"].values()) == {1} for name in names)
    return found
