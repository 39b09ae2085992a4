"""Every stream of `hamlet bench engine`, small: its workload parses and finds trends."""

from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import _streams as streams
from benchmarks._run import run
from runtime.language.parser import parse
from runtime.template.query_groups import share_groups

SMALL = {
    "trends": lambda: streams.trends(3_000),
    "many_partitions": lambda: streams.many_partitions(1_000),
    "overlapping_60": lambda: streams.overlapping(60, 1_000),
    "overlapping_1": lambda: streams.overlapping(1, 1_000),
    "adjacent_50": lambda: streams.adjacent(50, 500),
    "adjacent_500": lambda: streams.adjacent(500, 500),
    **{
        f"sharing_{form}": lambda form=form: streams.sharing(5, 4_000, form)
        for form in streams.FORMS
    },
    "sharing_not_grouped": lambda: streams.sharing(5, 4_000, "few", grouped=False),
    "changing": lambda: streams.changing(5_000, 5),
    **{kind: lambda kind=kind: streams.steady(kind, 5_000, 5) for kind in streams.KINDS},
}


@pytest.mark.parametrize("name", SMALL)
def test_a_stream_and_its_workload(name: str) -> None:
    workload, table = SMALL[name]()
    assert table.schema.names == ["time", "type", "key", "x"]
    assert pa.types.is_dictionary(table.schema.field("type").type)
    assert np.all(np.diff(table.column("time").to_numpy()) > 0)
    _, engine, results = run(workload, table)
    found = {name for each in results for name in each}
    assert found == {query.name for query in engine.workload}
    again = SMALL[name]()
    assert again.workload == workload
    assert again.table.equals(table)


def lengths(table: pa.Table, key: int, start: int, end: int) -> list[int]:
    """The lengths of the bursts of B in one partition, between two times."""
    rows = table.slice(start, end - start).to_pylist()
    types = [row["type"] for row in rows if row["key"] == key]
    return [len(list(run)) for type_, run in groupby(types) if type_ == "B"]


def test_bursts_of_120_in_each_partition() -> None:
    table = streams.sharing(10, 5_000).table
    assert lengths(table, 3, 0, 2_500) == [120, 120, 120, 120]


def test_queries_of_one_stream_form_one_share_group() -> None:
    for workload in (streams.sharing(50, 1_000).workload, streams.changing(1_000).workload):
        assert len(share_groups(parse(workload))) == 1


def test_changing_streams_change() -> None:
    table = streams.changing(40_000, 5).table  # 20 windows of 2,000 events, 4 partitions active
    assert lengths(table, 0, 0, 2_000) == [120, 120, 120, 120, 15]
    assert set(lengths(table, 8, 4_000, 6_000)) == {4}
    x = table.column("x").to_numpy()
    assert x[:4_000].max() < 100
    assert x[4_000:8_000].max() > 900


def test_sixty_windows_and_one_read_the_same_events() -> None:
    sixty, one = streams.overlapping(60, 1_000), streams.overlapping(1, 1_000)
    assert sixty.table.equals(one.table)
    assert [next(iter(parse(each.workload))).window.within for each in (sixty, one)] == [600, 600]


def test_a_million_partitions_have_ten_events_each() -> None:
    _, counts = np.unique(streams.many_partitions(1_000).table["key"], return_counts=True)
    assert counts.tolist() == [10] * 100


def test_shifted() -> None:
    table = streams.trends(100).table
    later = streams.shifted(table, time=100, key=7)
    assert later.schema == table.schema
    assert later["time"][0].as_py() == 100
    assert later["key"][5].as_py() == table["key"][5].as_py() + 7


@pytest.mark.parametrize("queries", [10, 50, 100])
def test_the_authors_workloads(queries: int) -> None:
    folder = streams.data_folder()
    if folder is None:
        pytest.skip("data: no hamlet_stream_shared_10.txt in $HAMLET_DATA or ../shared/data")
    workload, table = streams.authors(folder, queries, 500, 500)
    assert len(parse(workload)) == queries
    assert table.num_rows == 500
    _, _, results = run(workload, table)
    assert {name for each in results for name in each}


def test_a_line_of_the_authors_is_a_pattern() -> None:
    assert streams._authors_pattern("12,1,2+,5") == 'SEQ("12", "1", "2"+, "5")'
