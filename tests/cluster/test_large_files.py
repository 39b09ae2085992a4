"""One file that takes many epochs gives what `--engine local` gives."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.jobs import JobInput, Watcher, assert_same, driver_of, locally, on_cluster, outcome
from cluster.streams import FORMATS, RIDES, rides, shuffled
from runtime.pipeline.settings import Settings
from spark_ingest.sources.files import FileSource

ROWS, LIMIT = 6_000, 40_000


@pytest.fixture(autouse=True)
def small_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEAST_BYTES", "MOST_BYTES"):
        monkeypatch.setattr(f"hamlet.job.epoch_pacing.{name}", LIMIT)
    monkeypatch.setattr("spark_ingest.sources.file_ranges.LEAST_SPLIT", 15_000)


def write(path: Path) -> None:
    """Rows out of order, and bad ones in every part."""
    table = shuffled(rides(ROWS, seed=31), seed=32, reach=700)
    bad = range(0, ROWS, 97)
    if path.suffix == ".parquet":
        times = table["time"].to_pylist()
        for row in bad:
            times[row] = None
        table = table.set_column(0, "time", pa.array(times, pa.int64()))
        pq.write_table(table, path, row_group_size=450)
        return
    if path.suffix == ".gz":
        plain = path.with_suffix("")
        write(plain)
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
        return
    FORMATS[path.suffix[1:]](table, path)
    lines = path.read_text().splitlines()
    for row in bad:
        lines[row + 1] = "{broken," if row % 2 else f"{lines[row + 1]},\u00e4"
    for row in range(50, ROWS, 500):
        lines.insert(row, "")  # blank lines have no numbers
    path.write_text("\n".join(lines) + "\n")


def size_of(path: Path) -> int:
    data = path.read_bytes()
    return len(gzip.decompress(data) if path.suffix == ".gz" else data)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv", "jsonl.gz", "csv.gz"])
def test_many_epochs(spark, actor_pool, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rides.{suffix}"
    write(path)
    asked = JobInput(RIDES, path)
    found = on_cluster(spark, actor_pool(2), asked, tmp_path / "checkpoint")
    assert_same(found, locally(asked))
    assert found.epochs > size_of(path) // LIMIT
    assert found.dead.num_rows == len(range(0, ROWS, 97))
    assert found.tables["by_driver"].num_rows


@pytest.mark.parametrize("suffix", ["parquet", "csv", "csv.gz"])
def test_a_stop_within_the_file(
    spark, actor_pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """Another number of aggregators goes on, with epochs of another size."""
    monkeypatch.setattr("hamlet.job.epoch_pacing.MOST_BYTES", LIMIT // 5)
    monkeypatch.setattr("spark_ingest.sources.file_ranges.LEAST_SPLIT", 2_000)
    path = tmp_path / f"rides.{suffix}"
    write(path)
    asked = JobInput(RIDES, path)
    first = Watcher()
    source = FileSource(spark, path, asked.needs, unpack_to=tmp_path)
    driver, _ = driver_of(
        spark,
        actor_pool(2),
        asked,
        source,
        tmp_path / "checkpoint",
        first,
        stopping=lambda: bool(first.reports),
    )
    driver.run()
    assert driver.committed is not None
    assert "part" in driver.committed.position
    assert bool(driver.committed.rows_before) == suffix.startswith("csv")
    source.close()

    monkeypatch.setattr("hamlet.job.epoch_pacing.MOST_BYTES", 2 * LIMIT)
    monkeypatch.setattr("spark_ingest.sources.file_ranges.LEAST_SPLIT", 5_000)
    second = Watcher()
    source = FileSource(spark, path, asked.needs, unpack_to=tmp_path)
    driver, checkpoints = driver_of(
        spark, actor_pool(4), asked, source, tmp_path / "checkpoint", second, resume=True
    )
    driver.run()
    assert driver.finished
    assert driver.committed.rows_before == {}
    assert_same(outcome(driver, checkpoints, source, second, resumed=True), locally(asked))


def test_ties_by_arrival(spark, actor_pool, tmp_path: Path) -> None:
    """Text before Parquet: events wait without a watermark, then with one."""
    folder = tmp_path / "rides"
    folder.mkdir()
    write(folder / "0.csv")
    write(folder / "1.parquet")
    asked = JobInput(RIDES, folder, Settings("float", "arrival"))
    found = on_cluster(spark, actor_pool(2), asked, tmp_path / "checkpoint")
    assert_same(found, locally(asked))
    assert found.epochs > 8


def test_open_quotes_skip_the_rest_of_a_file(
    spark, actor_pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows before them count; the file has one dead letter, and others are read."""
    monkeypatch.setattr("hamlet.job.epoch_pacing.MOST_BYTES", 2_000_000)
    folder = tmp_path / "rides"
    folder.mkdir()
    lines = [f"{n},Request,a,1,2.5" for n in range(400_000)]
    lines[300_000] = '1,Request,"a,1,'  # beyond what is read to know the columns
    (folder / "0.csv").write_text("\n".join(["time,type,driver,zone,speed", *lines]))
    FORMATS["csv"](rides(100, seed=33), folder / "1.csv")
    found = on_cluster(spark, actor_pool(2), JobInput(RIDES, folder), tmp_path / "checkpoint")
    (letter,) = found.dead.to_pylist()
    assert letter["source"] == str(folder / "0.csv")
    assert letter["row"] is None
    assert 180_000 < found.rows <= 300_000 + 100
