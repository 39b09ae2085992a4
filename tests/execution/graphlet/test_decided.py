"""What is told of decisions: kinds, classes, predicted benefit, measured time, policy."""

import numpy as np
import pyarrow as pa
import pytest

from runtime.pipeline.engine import Engine
from runtime.plan.policy import Policy

QUERIES = 8
WORKLOAD = "\n".join(
    f"QUERY q{n} RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) WHERE B.x < {n + 1} WITHIN 100 s"
    for n in range(QUERIES)
)
#: By which to compare conditions is cheap, or as dear as can be.
CHEAP = Policy(version=3, pick=0.001, compare=0.001)
DEAR = Policy(version=4, pick=1e6, compare=1e6)


def stream(bursts: int, values: list[float]) -> pa.Table:
    """Bursts of B with these values, an A before each."""
    types, x = [], []
    for _ in range(bursts):
        types += ["A", *["B"] * len(values)]
        x += [0.0, *values]
    times = np.arange(len(types)) * 10
    return pa.table({"time": times, "type": types, "x": x})


def decided(table: pa.Table, policy: Policy, **options: str):
    engine = Engine(WORKLOAD, time_unit="ms", **options)
    engine.bind(table.schema)
    engine.set_policy(policy)
    engine.process(table)
    engine.finish()
    (group,) = engine.decisions()
    return group, engine


def test_bursts_on_which_all_agree_are_shared():
    group, engine = decided(stream(300, [0.5] * 20), CHEAP)
    (of_b,) = group.types
    assert (of_b.type, of_b.shared, of_b.continued, of_b.split) == ("B", 1, 299, 0)
    assert (of_b.events, of_b.snapshots) == (6_000, 0)
    assert of_b.benefit > 0
    assert of_b.time_shared.bursts == sum(n & (n - 1) == 0 or n % 256 <= 1 for n in range(1, 301))
    assert of_b.time_shared.mean > 0
    assert of_b.time_split.mean is None
    assert {example.policy for example in group.examples} == {3}
    assert all(example.nanoseconds > 0 for example in group.examples)
    assert engine.decision_seconds() == pytest.approx(300 * CHEAP.decide * 1e-9)


def test_only_types_that_are_repeated_are_decided_on():
    group, _ = decided(stream(3, [0.5]), CHEAP)
    assert [of_type.type for of_type in group.types] == ["B"]


def test_classes_are_counted():
    """0.5 is picked by all, 3.5 by five of eight: two classes."""
    group, _ = decided(stream(40, [0.5, 3.5]), CHEAP)
    last = group.examples[-1]
    assert (last.kind, last.classes, last.queries, last.snapshots) == ("continued", 2, 8, 1)
    assert "in 2 classes" in last.describe()
    assert "and took" in last.describe()


def test_where_comparing_is_dear_bursts_are_split_and_looked_at_again():
    group, _ = decided(stream(160, [0.5, 3.5]), DEAR)
    (of_b,) = group.types
    assert of_b.split == 150
    assert of_b.shared + of_b.merged == 10, "one in sixteen"
    assert of_b.benefit < 0
    assert of_b.time_split.mean > 0
    split = next(example for example in group.examples if example.kind == "split")
    assert "was expected to cost" in split.describe()


def test_policies_take_turns():
    table = stream(40, [0.5, 3.5])
    engine = Engine(WORKLOAD, time_unit="ms")
    engine.bind(table.schema)
    for start, policy in ((0, CHEAP), (60, DEAR), (90, CHEAP)):
        engine.set_policy(policy)
        piece = table.slice(start, {0: 60, 60: 30, 90: 30}[start])
        engine.process(piece)
        engine.advance(int(piece["time"][-1].as_py()) * 1_000 + 1)
    engine.finish()
    (group,) = engine.decisions()
    (of_b,) = group.types
    assert of_b.shared == 1
    assert of_b.merged >= 1
    assert of_b.split >= 8
    assert of_b.shared + of_b.merged + of_b.split + of_b.continued == of_b.all == 40


@pytest.mark.parametrize(("sharing", "kind"), [("always", "split"), ("never", "shared")])
def test_where_nothing_is_left_to_decide(sharing: str, kind: str):
    group, _ = decided(stream(10, [0.5, 3.5]), CHEAP, sharing=sharing)
    (of_b,) = group.types
    assert getattr(of_b, kind) == 0
    assert of_b.all > 0
