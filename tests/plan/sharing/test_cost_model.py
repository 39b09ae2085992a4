"""The cost of a burst: what the kernel predicts, and what is said of it in Python."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from optimizer.bursts import predict
from runtime.execution.operators.graphlet.kernel import record as k
from runtime.pipeline.engine import Engine
from runtime.plan import cost_model
from runtime.plan.cost_model import Samples
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan

QUERIES = 8
WORKLOAD = "\n".join(
    f"QUERY q{n} RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) WHERE B.x < {n + 1} WITHIN @"
    for n in range(QUERIES)
)


def workload(window: str) -> str:
    return WORKLOAD.replace("@", window)


SHARE = Policy(version=3, scan=500.0)
SPLIT = Policy(version=4, pick=1e6)


def stream(bursts: int, values: list[float]) -> pa.Table:
    """Bursts of B with these values, an A before each."""
    types = ["A", *["B"] * len(values)] * bursts
    x = [0.0, *values] * bursts
    return pa.table({"time": np.arange(len(types)) * 10, "type": types, "x": x})


def run(policy: Policy, values: list[float], window: str = "1000 s", bursts: int = 1_100) -> Engine:
    table = stream(bursts, values)
    engine = Engine(workload(window), time_unit="ms", plan=SharingPlan(windows="vectors"))
    engine.bind(table.schema)
    engine.set_policy(policy)
    engine.process(table)
    engine.advance(int(table["time"][-1].as_py()) * 1_000)
    return engine


def test_ways_are_those_of_the_kernel() -> None:
    ways = (k.AGREED, k.CLASSES, k.APART, k.CROSSED)
    assert ways == (cost_model.AGREED, cost_model.CLASSES, cost_model.APART, cost_model.CROSSED)


@pytest.mark.parametrize("policy", [SHARE, SPLIT, Policy(), Policy(join=1.0, walk=9.0)])
@pytest.mark.parametrize("window", ["1000 s", "40 s SLIDE 10 s"])
def test_the_kernel_predicts_the_same_benefit(policy: Policy, window: str) -> None:
    """3.5 is picked by five of eight: two classes, once that has been seen."""
    engine = run(policy, [0.5, 3.5, 3.5], window)
    (group,) = engine.decisions()
    each = 1 if window == "1000 s" else 4
    assert group.examples
    for example in group.examples[-3:]:
        expected = cost_model.benefit(policy, 2, QUERIES, QUERIES, 2, each)
        assert example.benefit == pytest.approx(expected, rel=0.05, abs=5)


def test_benefit_is_split_minus_shared() -> None:
    policy = Policy(scan=1, operator=10, pick=0.5, compare=0.25, walk=0.25, apply=20, join=5)
    # Six of eight queries need no operator of their own; two classes are of several queries.
    alone = 10 + 4 * 1 + 3 * 20
    assert cost_model.benefit(policy, waiting=4, queries=8, conditions=8, classes=2, each=3) == (
        6 * alone - 8 * (4 * 0.5 + 2 * 0.5) - 2 * 3 * 5
    )


def test_samples_of_bursts_on_which_all_agree() -> None:
    samples = run(SHARE, [0.5] * 20).take_samples()
    assert set(samples.kind) == {cost_model.AGREED}
    assert set(samples.waiting) == {0}
    assert set(samples.applied) == {1}, "queries of one form lie side by side"
    assert set(samples.stepped) == {QUERIES}
    assert set(samples.version) == {3}
    assert samples.nanoseconds.min() > 0


def test_samples_of_bursts_shared_by_classes() -> None:
    samples = run(SHARE, [0.5, 3.5, 3.5]).take_samples()
    assert set(samples.kind) == {cost_model.CLASSES}
    assert set(samples.waiting) == {2}
    assert set(samples.classes) == {2}
    assert set(samples.conditions) == {QUERIES}
    assert set(samples.applied) == {2}
    assert set(samples.joined) == {2}
    assert set(samples.stepped) == {QUERIES}
    assert (samples.compared > 0).all()
    assert (samples.nanoseconds >= samples.compared).all()


def test_where_bursts_are_split_both_ways_are_sampled() -> None:
    samples = run(SPLIT, [0.5, 3.5, 3.5]).take_samples()
    split = samples.select(samples.kind == cost_model.APART)
    looked_at = samples.select(samples.kind == cost_model.CLASSES)
    assert split.size >= 4
    assert looked_at.size >= 4
    assert set(split.applied) == {QUERIES}
    assert set(split.compared) == {0}


def test_where_bursts_are_shared_one_in_4096_is_split() -> None:
    engine = run(SHARE, [3.5], bursts=8_192)
    samples = engine.take_samples()
    assert (samples.kind == cost_model.APART).sum() == 2
    (group,) = engine.decisions()
    (of_b,) = group.types
    assert of_b.split == 2


def test_vectors_of_windows_are_counted() -> None:
    """Four windows are open."""
    engine = run(SPLIT, [0.5, 3.5, 3.5], "40 s SLIDE 10 s")
    samples = engine.take_samples()
    split = samples.select(samples.kind == cost_model.APART)
    assert 4 * QUERIES in split.stepped
    assert (split.applied <= split.stepped).all()


def test_crossings_are_sampled() -> None:
    table = stream(400, [0.5, 3.5])
    engine = Engine(
        workload("40 s SLIDE 100 ms"), time_unit="ms", plan=SharingPlan(windows="panes")
    )
    engine.bind(table.schema)
    engine.process(table)
    engine.advance(int(table["time"][-1].as_py()) * 1_000)
    samples = engine.take_samples()
    crossed = samples.select(samples.kind == cost_model.CROSSED)
    # Of two states, three pairs: a window begins in each, and trends go from the first on.
    assert set(crossed.applied) == {400 * QUERIES * 3}
    work, compared = cost_model.equations(crossed)
    assert work[:, cost_model.CROSS].tolist() == crossed.applied.tolist()
    assert work.sum() == crossed.applied.sum()
    assert compared.sum() == 0
    assert all(example.type == "B" for group in engine.decisions() for example in group.examples)


def test_samples_are_taken_once_and_bounded() -> None:
    engine = run(SHARE, [3.5], bursts=300)
    first = engine.take_samples()
    assert first.size > 0
    assert engine.take_samples().size == 0
    assert engine.decisions()[0].examples, "which go on being told"
    many = run(SHARE, [3.5], bursts=80_000)
    assert many.take_samples().size == 512


def test_samples_pickle_small() -> None:
    samples = run(SHARE, [3.5], bursts=20_000).take_samples()
    data = pickle.dumps(samples)
    again = pickle.loads(data)
    assert all(np.array_equal(one, other) for one, other in zip(samples, again, strict=True))
    assert len(data) < 100 * samples.size + 2_000


def test_samples_of_several_engines() -> None:
    one, other = (run(SHARE, [3.5], bursts=n).take_samples() for n in (20, 40))
    assert Samples.concat([one, other]).size == one.size + other.size
    assert Samples.concat([]).size == 0


def test_engines_that_share_nothing_have_none() -> None:
    assert Engine(workload("1 s"), numeric="exact").take_samples().size == 0
    table = stream(40, [3.5])
    engine = Engine(workload("1000 s"), time_unit="ms", sharing="always")
    engine.bind(table.schema)
    engine.process(table)
    engine.finish()
    assert set(engine.take_samples().kind) <= {cost_model.AGREED}


def test_what_was_done_is_predicted_from_the_same_terms() -> None:
    """Where as many vectors were stepped as expected."""
    policy = Policy(scan=1, operator=10, pick=0.5, compare=0.25, walk=0.5, apply=20, join=5)
    values = cost_model.coefficients(policy)
    for samples, expected in (
        (
            run(SHARE, [0.5, 3.5, 3.5]).take_samples(),
            cost_model.shared_work(2, QUERIES, QUERIES, 2, 1),
        ),
        (run(SPLIT, [0.5, 3.5, 3.5]).take_samples(), cost_model.split_work(2, QUERIES, 1)),
    ):
        way = cost_model.CLASSES if samples.version[0] == 3 else cost_model.APART
        chosen = samples.select(samples.kind == way)
        assert set(predict(policy, chosen)) == {expected @ values}
