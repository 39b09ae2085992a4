"""Jobs on one Ray and one Spark, and what they write if nothing disturbs them."""

from collections.abc import Iterator

import pytest

from cluster.faults.command import Command
from cluster.faults.job import Jobs, Seen
from cluster.faults.stream import written


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
    seen = Seen()
    job.run(seen)
    assert not seen.troubles
    found = written(job.output)
    names = {"rises", "ends", "by_district", "lone"}
    assert set(found) == {f"{name}.parquet" for name in names} | {"_late", "_dead_letter"}
    assert all(rows.total() > 100 for rows in found.values())
    assert all(set(found[f"{name}.parquet"].values()) == {1} for name in names)
    return found
