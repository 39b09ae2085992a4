"""Tables 3 to 5 of the HAMLET paper by the algebra of graphlets, and the closed form of a burst.

The numbers of tables 3 and 4 are those of `golden.json`; table 5 is the paper's own.
"""

import random
from itertools import groupby

import pyarrow as pa
import pytest

from plan.sharing.expression import Expression, Graphlet, Operator, Snapshot, operator
from runtime.pipeline.engine import aggregate

Q1, Q2 = "q1", "q2"
X = {Q1: 2, Q2: 1}
BETWEEN = {Q1: 2, Q2: 3}  # what comes after graphlet B3: A4 for q1, C5 for q2


def table_3() -> tuple[Snapshot, Graphlet]:
    """Stream `a1 a2 c3 b4 b5 b6 b7`, queries `SEQ(A, B+)` and `SEQ(C, B+)`."""
    x = Snapshot("x", X)
    graphlet = Graphlet(x)
    for _ in range(4):
        graphlet.add()
    return x, graphlet


def table_5() -> Graphlet:
    """As table 3, but for q2 the third b may not follow the second."""
    graphlet = Graphlet(Snapshot("x", X))
    graphlet.add()
    graphlet.add()
    graphlet.add(cut={Q2: {1}})
    graphlet.add()
    return graphlet


def test_table_3_coefficients_of_x() -> None:
    x, graphlet = table_3()
    assert [count.terms for count in graphlet.counts] == [{x: 1}, {x: 2}, {x: 4}, {x: 8}]
    assert list(map(str, graphlet.counts)) == ["x", "2x", "4x", "8x"]


def test_figure_4_counts() -> None:
    _, graphlet = table_3()
    assert {query: graphlet.total.of(query) for query in X} == {Q1: 30, Q2: 15}


def test_table_4_snapshot_y() -> None:
    _, graphlet = table_3()
    assert graphlet.leave("y", BETWEEN).values == {Q1: 34, Q2: 19}


def test_table_4_snapshot_y_is_all_that_the_next_graphlet_propagates() -> None:
    _, graphlet = table_3()
    after = Graphlet(graphlet.leave("y", BETWEEN))
    assert [str(after.add()) for _ in range(3)] == ["y", "2y", "4y"]


def test_table_5_snapshot_z() -> None:
    x, z = table_5().total.terms
    assert (x.values, z.values) == (X, {Q1: 8, Q2: 2})
    assert list(map(str, table_5().counts)) == ["x", "2x", "z", "4x + z"]


def test_table_5_snapshot_y() -> None:
    assert table_5().leave("y", BETWEEN).values == {Q1: 34, Q2: 15}


def test_no_snapshot_where_queries_agree_on_what_to_cut() -> None:
    graphlet = Graphlet(Snapshot("x", X))
    graphlet.add()
    graphlet.add(cut={Q1: {0}, Q2: {0}})
    assert list(map(str, graphlet.counts)) == ["x", "x"]


def test_events_of_equal_time_do_not_follow_each_other() -> None:
    graphlet = Graphlet(Snapshot("x", X))
    assert [str(graphlet.add_group(size)) for size in (2, 3, 1)] == ["x", "3x", "12x"]
    assert str(graphlet.total) == "23x"


def test_large_coefficients_are_told_as_powers() -> None:
    x = Snapshot("x", X)
    assert str(Expression({x: 2**119})) == "2^119 x"
    assert str(Expression({x: 0})) == "0"


# ---- the closed form -----------------------------------------------------------------------


def test_the_operator_of_table_3_takes_x_to_y() -> None:
    x, graphlet = table_3()
    burst = operator([[0]] * 4)
    left = graphlet.leave("y", {})
    assert {q: burst.apply(x.values[q], 0)[0] for q in X} == left.values


@pytest.mark.parametrize("seed", range(20))
def test_the_operator_is_one_event_after_the_other(seed: int) -> None:
    draw = random.Random(seed)
    groups = [[draw.randint(-9, 9) for _ in range(draw.randint(0, 3))] for _ in range(8)]
    entering = draw.randint(0, 5), draw.randint(-5, 5)
    u, v = entering
    for group in groups:  # each continues all that was there before the group, adds its value
        u, v = u + len(group) * u, v + len(group) * v + sum(group) * u
    whole = operator(groups)
    assert whole.apply(*entering) == (u, v)
    cut = draw.randint(0, 8)
    first, second = operator(groups[:cut]), operator(groups[cut:])
    assert first.then(second) == second.then(first) == whole
    assert Operator().then(whole) == whole


@pytest.mark.parametrize("seed", range(5))
def test_the_operator_against_the_plain_engine(seed: int) -> None:
    """`SEQ(A, B+)` and `SEQ(C, B+)` over some a's and c's, then a burst of b's with ties."""
    draw = random.Random(seed)
    starts = [draw.choice("AC") for _ in range(5)] + ["A", "C"]
    times = sorted(draw.randint(10, 15) for _ in range(9))
    x = [draw.randint(-9, 9) for _ in times]
    table = pa.table(
        {
            "time": [*range(len(starts)), *times],
            "type": [*starts, *("B" for _ in times)],
            "x": [0] * len(starts) + x,
        }
    )
    groups = [[x[i] for i in members] for _, members in groupby(range(9), key=times.__getitem__)]
    burst = operator(groups)
    for start in "AC":
        entering = starts.count(start)
        count, total = burst.apply(entering, 0)
        query = f"RETURN COUNT(*) AS n, SUM(B.x) AS s PATTERN SEQ({start}, B+) WITHIN 1 minute"
        (found,) = aggregate(query, table, numeric="exact").values()
        expected = {"n": str(count - entering), "s": str(total)}
        assert found.select(["n", "s"]).to_pylist() == [expected]
