"""The streams of the papers' experiments are what they say: seeded, in order, as large as asked."""

from collections import Counter
from importlib import import_module
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from benchmarks._papers.made import Made, is_type, text
from benchmarks._papers.streams import cogra, gloria, hamlet, sharon
from runtime.language.parser import parse
from runtime.pipeline.engine import aggregate

FILES = sorted((Path(__file__).parents[2] / "benchmarks/_papers/experiments").glob("*.yaml"))


def points(mode: str) -> list[tuple[str, str, dict[str, object]]]:
    """Stream and arguments of each end of each sweep."""
    found = []
    for path in FILES:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
        given = {**read["given"], **(read.get(mode) or {})}
        for sweep in read["sweeps"].values():
            values = sweep["values" if mode == "full" else mode]
            found += [
                (path.stem, read["stream"], {**given, sweep["varies"]: value})
                for value in (values[0], values[-1])
            ]
    return found


def systems(file: str) -> str:
    path = next(path for path in FILES if path.stem == file)
    return " ".join(yaml.safe_load(path.read_text(encoding="utf-8"))["systems"])


def make(stream: str, arguments: dict[str, object]) -> Made:
    module, function = stream.split(".")
    found: Made = getattr(import_module(f"benchmarks._papers.streams.{module}"), function)(
        **arguments
    )
    return found


@pytest.mark.parametrize(
    ("file", "stream", "arguments"), points("tiny"), ids=lambda each: each if each else None
)
def test_a_stream_is_the_same_again_and_in_order(
    file: str, stream: str, arguments: dict[str, object]
) -> None:
    made, again = make(stream, arguments), make(stream, arguments)
    assert made.workload == again.workload
    assert made.table.equals(again.table)
    assert (np.diff(made.table["time"].to_numpy()) > 0).all()
    other = make(stream, {**arguments, "seed": 7})
    assert other.workload != made.workload or not other.table.equals(made.table)
    assert pa.types.is_dictionary(made.table.schema.field("type").type)
    workload = parse(made.workload)
    assert len(workload.queries) == arguments.get("queries", 1)
    for query in workload:
        kinds = [position.type for position in query.template.positions]
        assert len(set(kinds)) == len(kinds), "a baseline takes a type once in a pattern"
    shortest = min(query.window.within for query in workload)
    slide = min(query.window.slide for query in workload)
    assert made.window_events == slide <= shortest <= made.table.num_rows


EXECUTED = [each for each in points("tiny") if "plan-" not in systems(each[0])][1::2]


@pytest.mark.parametrize(
    ("file", "stream", "arguments"), EXECUTED, ids=[each[0] for each in EXECUTED]
)
def test_a_tiny_stream_has_trends_to_compare(
    file: str, stream: str, arguments: dict[str, object]
) -> None:
    made = make(stream, arguments)
    found = aggregate(made.workload, made.table, numeric="exact", time_unit="us")
    assert sum(table.num_rows for table in found.values()) > 0


@pytest.mark.parametrize(
    ("stream", "arguments", "within", "rows"),
    [
        ("hamlet.ridesharing", {"events": 500, "groups": 50, "windows": 3}, 500, 1_500),
        ("hamlet.taxi", {"rate": 20, "minutes": 30, "windows": 2}, 600, 1_200),
        ("hamlet.smarthome", {"rate": 700, "windows": 2}, 700, 1_400),
        ("hamlet.stock", {"rate": 30, "minutes": 40}, 150, 1_200),
        ("sharon.vehicles", {"events": 1_000, "windows": 3}, 1_000, 3_000),
        ("sharon.purchases", {"events": 1_000, "windows": 2}, 1_000, 2_000),
        ("cogra.activity", {"events": 300, "people": 5}, 300, 300),
        ("cogra.stock", {"events": 300, "companies": 5}, 300, 300),
        ("cogra.trips", {"events": 300, "groups": 5}, 300, 300),
        ("cogra.grouped", {"events": 300, "matched": 30}, 300, 300),
        ("cogra.selective", {"events": 300, "companies": 5}, 300, 300),
        ("gloria.mixed", {"rate": 30, "minutes": 40}, 150, 1_200),
        ("gloria.bursty", {"rate": 30, "minutes": 40}, 150, 1_200),
    ],
)
def test_windows_hold_as_many_events_as_asked(
    stream: str, arguments: dict[str, object], within: int, rows: int
) -> None:
    made = make(stream, arguments)
    assert made.table.num_rows == rows
    assert min(query.window.within for query in parse(made.workload)) == within


def runs(types: np.ndarray, keys: np.ndarray, wanted: set[str]) -> list[int]:
    """How long the runs of these types are, within each partition."""
    found = []
    for key in np.unique(keys):
        mine = types[keys == key]
        found += [len(list(run)) for type_, run in groupby(mine) if type_ in wanted]
    return found


def test_bursts_of_stocks_are_120_events_on_average() -> None:
    made = hamlet.stock(rate=3_000, minutes=40)
    company = made.table["company"].to_numpy()
    found = runs(text(made.table, "type"), company, set(hamlet.KLEENE))
    assert 110 < np.mean(found) < 130


def test_queries_differ_on_one_burst_in_ten() -> None:
    made = hamlet.stock(rate=3_000, minutes=40)
    types, x = text(made.table, "type"), made.table["x"].to_numpy()
    company = made.table["company"].to_numpy()
    spread = []
    for each in np.unique(company):
        mine = company == each
        at = 0
        for type_, run in groupby(types[mine]):
            end = at + len(list(run))
            if type_ in hamlet.KLEENE and end - at > 30:
                spread.append(x[mine][at:end].max() >= hamlet.LOWEST)
            at = end
    assert 0.05 < np.mean(spread) < 0.15


def test_diverse_queries_have_what_the_paper_says() -> None:
    queries = parse(hamlet.stock(queries=60, rate=100).workload)
    assert {query.window.within for query in queries} == {500, 1_000, 2_000}
    assert {len(query.template.positions) for query in queries} == {2, 3, 4}
    assert {tuple(query.group_by) for query in queries} == {(), ("company",), ("sector",)}
    assert len({query.partition_by for query in queries}) == 1


@pytest.mark.parametrize("burst", [20, 100])
def test_bursts_against_hamlet_are_as_long_as_asked(burst: int) -> None:
    made = gloria.bursty(burst=burst, rate=2_000)
    hot = {f"H{n}" for n in range(12)}
    found = Counter(runs(text(made.table, "type"), made.table["level"].to_numpy(), hot))
    assert found.most_common(1)[0][0] == burst
    assert found[burst] >= sum(found.values()) - 5  # the last of each partition may be cut


@pytest.mark.parametrize("percent", [0, 20, 60, 100])
def test_as_many_queries_are_complex_as_asked(percent: int) -> None:
    queries = parse(gloria.bursty(queries=100, percent=percent, rate=100).workload)
    lengths = Counter(len(query.template.positions) for query in queries)
    assert lengths == Counter({8: percent, 3: 100 - percent})
    limits = {query.local[0].expression for query in queries if len(query.template.positions) == 3}
    assert len({str(each).rpartition(" ")[2] for each in limits}) <= 1


@pytest.mark.parametrize("percent", [0, 10, 40, 60, 100])
def test_as_many_queries_repeat_a_part_as_asked(percent: int) -> None:
    made = gloria.mixed(queries=100, kleene=percent, rate=100)
    patterns = [line.split("WHERE")[0] for line in made.workload.splitlines()]
    assert sum("+" in pattern for pattern in patterns) == percent


def test_one_query_in_seven_repeats_a_part() -> None:
    made = gloria.mixed(queries=70, rate=100)
    assert sum("+" in line.split("WHERE")[0] for line in made.workload.splitlines()) == 10


@pytest.mark.parametrize(("length", "layers"), [(2, 1), (4, 1), (10, 1), (10, 2), (10, 3)])
def test_kleene_parts_are_as_long_and_as_deep_as_asked(length: int, layers: int) -> None:
    made = gloria.mixed(queries=5, kleene=100, length=length, layers=layers, rate=100)
    for query in parse(made.workload):
        assert len(query.template.positions) == length + 2
    for line in made.workload.splitlines():
        assert line.split("WHERE")[0].count("+") == layers


def test_a_selective_condition_holds_for_as_many_pairs_as_asked() -> None:
    for percent in (10, 50, 90):
        table = cogra.selective(events=2_000, percent=percent, companies=1).table
        pairs = table["bid"].to_numpy()[:, None] < table["ask"].to_numpy()[None, :]
        assert abs(100 * pairs.mean() - percent) < 3


def test_groups_and_events_that_match() -> None:
    made = cogra.grouped(events=50_000, groups=5, matched=500)
    assert len(np.unique(made.table["driver"].to_numpy())) == 5
    assert 400 < (~is_type(made.table, "Other")).sum() < 600


def test_activities_are_told_apart_by_heart_rate() -> None:
    counts = Counter(text(cogra.activity(events=3_000, people=10).table, "type").tolist())
    assert set(counts) == set(cogra.ACTIVITIES)


def test_sequences_have_the_length_asked_for() -> None:
    for made in (sharon.vehicles(events=500, length=12), sharon.purchases(events=500, length=12)):
        assert {len(query.template.positions) for query in parse(made.workload)} == {12}
