"""Footers tell where the row groups of a Parquet file lie, and what times they have."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from runtime.io.row_groups import row_groups, rows_between, span, span_of
from runtime.types.time_codec import LIMIT

ROWS, GROUP = 1_000, 300


def write(path: Path, **options: object) -> int:
    table = pa.table({"key": [str(n) for n in range(ROWS)], "time": range(ROWS)})
    pq.write_table(table, path, row_group_size=GROUP, **options)
    return path.stat().st_size


def test_groups_follow_on_each_other(tmp_path: Path) -> None:
    size = write(tmp_path / "a.parquet")
    groups = row_groups(tmp_path / "a.parquet", "time", "us")
    assert groups is not None
    assert [group.rows for group in groups] == [300, 300, 300, 100]
    assert [group.times for group in groups] == [(0, 299), (300, 599), (600, 899), (900, 999)]
    middles = [group.middle for group in groups]
    assert middles == sorted(middles)
    assert sum(group.bytes for group in groups) < size
    assert rows_between(groups, 0, size) == ROWS
    cut = middles[2]
    assert rows_between(groups, 0, cut) + rows_between(groups, cut, size) == ROWS
    assert rows_between(groups, 0, cut) == 2 * GROUP
    assert span_of(groups[1:3]) == (300, 899)


def test_bytes_are_those_of_the_columns_to_read(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    both, times, none = (
        row_groups(tmp_path / "a.parquet", "time", "us", columns.__contains__) or ()
        for columns in ({"time", "key"}, {"time"}, set[str]())
    )
    assert [group.middle for group in both] == [group.middle for group in times]
    assert all(0 < one.bytes < two.bytes for one, two in zip(times, both, strict=True))
    assert {group.bytes for group in none} == {0}


def test_a_group_without_statistics_makes_the_span_unknown(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", write_statistics=False)
    groups = row_groups(tmp_path / "a.parquet", "time", "us")
    assert groups is not None
    assert {group.times for group in groups} == {None}
    assert span_of(groups) is None
    assert span(tmp_path / "a.parquet", "time", "us") is None


def test_a_missing_column_has_no_times(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    groups = row_groups(tmp_path / "a.parquet", "other", "us")
    assert groups is not None
    assert rows_between(groups, 0, 1 << 30) == ROWS
    assert span_of(groups) is None


def test_a_file_that_is_not_parquet(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("no")
    assert row_groups(tmp_path / "a.parquet", "time", "us") is None
    assert row_groups(tmp_path / "missing.parquet", "time", "us") is None


def test_the_times_of_a_group_are_those_of_its_events(tmp_path: Path) -> None:
    """Times of invalid rows may be beyond every watermark."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"time": [3, -(2**62), None, 2**62]}), path)
    assert span(path, "time", "s") == (-LIMIT, LIMIT)
    assert span(path, "time", "ns") == (-(2**62) // 1_000, 2**62 // 1_000)
