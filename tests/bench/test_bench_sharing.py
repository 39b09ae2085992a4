"""`hamlet bench sharing`: its workloads, and that all of it runs, on few events."""

import numpy as np
import pytest

from benchmarks import _workloads as workloads
from benchmarks import sharing
from runtime.language.parser import parse
from runtime.plan.operators.graphlet.eligibility import supports
from runtime.template.query_groups import kleene_subpatterns

SMALL = {
    "sharon": lambda: workloads.sharon(events=4_000, vehicles=5),
    "sharon_tumbling": lambda: workloads.sharon(events=4_000, vehicles=5, sliding=False),
    "mixed": lambda: workloads.mixed(events=4_000, keys=3),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_workload(name: str) -> None:
    text, table, rates = SMALL[name]()
    queries = parse(text)
    assert len(queries) == 120
    assert all(supports(query) for query in queries)
    assert np.all(np.diff(table.column("time").to_numpy()) > 0)
    assert {type_ for query in queries for type_ in query.types} <= rates.keys()
    again = SMALL[name]()
    assert (again.text, again.rates) == (text, rates)
    assert again.table.equals(table)


def test_one_in_seven_queries_of_the_mixed_workload_repeats_something() -> None:
    queries = parse(SMALL["mixed"]().text)
    assert sum(bool(kleene_subpatterns(query.pattern)) for query in queries) == 18


def test_routes_have_ten_streets_and_main_roads_carry_most_of_the_traffic() -> None:
    text, table, _ = SMALL["sharon"]()
    assert {len(query.template.positions) for query in parse(text)} == {10}
    types = table.column("type").to_pylist()
    assert sum(type_.startswith("Road") for type_ in types) > 0.6 * len(types)


def test_a_row_says_whether_the_target_is_met() -> None:
    rows = sharing.table({"sharon_none_over_sharon": 11.0, "mixed_none_ns_per_event": 3.0})
    assert [tuple(row.values()) for row in rows] == [
        ("sharon_none_over_sharon", 11.0, "at least 10", "yes"),
        ("mixed_none_ns_per_event", 3.0, "", ""),
    ]


def test_results_that_differ_are_told() -> None:
    row = {("q1", 0): {"COUNT(*)": 3.0, "AVG(A.x)": 0.1}}
    assert sharing.same(row, {("q1", 0): {"COUNT(*)": 3.0, "AVG(A.x)": 0.1 + 1e-12}})
    assert not sharing.same(row, {("q1", 0): {"COUNT(*)": 4.0, "AVG(A.x)": 0.1}})
    assert not sharing.same(row, {})


@pytest.mark.slow
def test_all_plans_have_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "REPEATS", 1)
    monkeypatch.setattr(sharing, "MADE", SMALL)
    result = sharing.run(lambda line: None)
    assert result.keys() >= sharing.TARGETS.keys()
