"""The learner: from times of bursts to coefficients."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from optimizer.bursts import TRUE, drawn, predict, scaled
from runtime.optimizer.cost_fit import MOST, CostModelFitter
from runtime.pipeline.engine import Engine
from runtime.plan import cost_model
from runtime.plan.cost_model import TERMS, Samples
from runtime.plan.policy import Policy


def learned(learner: CostModelFitter, truth: Policy, calls: int = 20, **how) -> Policy:
    for seed in range(calls):
        learner.learn(drawn(truth, seed=seed, **how))
    return learner.policy


def off(policy: Policy, truth: Policy) -> float:
    """By how much predictions are off, at the most, over bursts of all kinds."""
    fresh = drawn(truth, 2_000, seed=99)
    predicted, true = predict(policy, fresh), predict(truth, fresh)
    return float(np.percentile(np.abs(predicted / true - 1), 95))


@pytest.mark.parametrize("by", [0.01, 1.0, 100.0])
def test_known_coefficients_are_found(by: float) -> None:
    policy = learned(CostModelFitter(scaled(TRUE, by)), TRUE)
    for name in TERMS:
        assert getattr(policy, name) == pytest.approx(getattr(TRUE, name), rel=0.35), name
    assert off(policy, TRUE) < 0.12


@pytest.mark.parametrize("names", [("scan", "operator", "apply"), ("pick", "compare", "walk")])
@pytest.mark.parametrize("by", [0.01, 100.0])
def test_a_few_samples_are_enough(names: tuple[str, ...], by: float) -> None:
    learner = CostModelFitter(scaled(TRUE, by, *names))
    better = learner.learn(drawn(TRUE, 60))
    assert better is not None
    assert off(better, TRUE) < 0.25


def test_bursts_that_were_interrupted_count_little() -> None:
    learner = CostModelFitter(scaled(TRUE, 3.0))
    draw = np.random.default_rng(5)
    for seed in range(20):
        samples = drawn(TRUE, seed=seed)
        odd = draw.random(samples.size) < 0.01
        samples = samples._replace(nanoseconds=samples.nanoseconds * np.where(odd, 1_000, 1))
        learner.learn(samples)
    assert off(learner.policy, TRUE) < 0.15
    assert learner.correlation is not None
    assert learner.correlation > 0.9


def test_what_was_is_forgotten() -> None:
    learner = CostModelFitter(TRUE)
    learned(learner, TRUE)
    slower = scaled(TRUE, 2.5)
    assert off(learned(learner, slower), slower) < 0.12


def test_coefficients_without_evidence_stay() -> None:
    start = scaled(TRUE, 4.0)
    policy = learned(CostModelFitter(start), TRUE, ways=(cost_model.AGREED, cost_model.APART))
    for name in ("pick", "compare", "walk", "join", "cross"):
        assert getattr(policy, name) == pytest.approx(getattr(start, name), rel=1e-3), name
    assert policy.decide == start.decide


def test_bursts_that_are_shared_tell_what_a_query_costs_alone() -> None:
    policy = learned(CostModelFitter(scaled(TRUE, 100.0)), TRUE, ways=(cost_model.CLASSES,))
    split = drawn(TRUE, 500, ways=(cost_model.APART,))
    predicted, true = predict(policy, split), predict(TRUE, split)
    assert np.median(np.abs(predicted / true - 1)) < 0.2


def test_coefficients_are_never_negative_nor_without_bound() -> None:
    draw = np.random.default_rng(3)
    learner = CostModelFitter(TRUE)
    for seed in range(20):
        samples = drawn(TRUE, 50, seed=seed)
        nonsense = draw.integers(0, 10**9, samples.size)
        learner.learn(samples._replace(nanoseconds=nonsense, compared=nonsense // 2))
        values = cost_model.coefficients(learner.policy)
        assert (values > 0).all()
        assert (values <= MOST).all()


def test_another_policy_is_given_only_where_it_matters() -> None:
    learner = CostModelFitter(scaled(TRUE, 100.0))
    given = [learner.learn(drawn(TRUE, seed=seed)) for seed in range(30)]
    assert given[0] is not None
    assert sum(each is not None for each in given) <= 3
    assert learner.learn(Samples.empty()) is None


def test_the_version_is_left_to_the_caller() -> None:
    better = CostModelFitter(replace(scaled(TRUE, 100.0), version=7)).learn(drawn(TRUE))
    assert better is not None
    assert better.version == 7


def test_how_good_predictions_are() -> None:
    learner = CostModelFitter(scaled(TRUE, 100.0, "scan", "apply"))
    assert learner.correlation is None
    assert learner.error is None
    learned(learner, TRUE, calls=10)
    assert learner.correlation is not None
    assert learner.correlation > 0.95
    assert learner.error is not None
    assert learner.error < 0.15


def test_predictions_are_judged_before_they_are_learned_from() -> None:
    """As many coefficients as bursts could be made to fit any times."""
    draw = np.random.default_rng(7)
    learner = CostModelFitter(TRUE)
    for seed in range(40):
        samples = drawn(TRUE, 40, seed=seed, ways=(cost_model.AGREED,))
        learner.learn(samples._replace(nanoseconds=draw.integers(100, 10_000, samples.size)))
    assert learner.correlation is None or abs(learner.correlation) < 0.2


# ---- an engine -----------------------------------------------------------------------------

QUERIES = 30
WORKLOAD = "\n".join(
    f"QUERY q{n} RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WHERE [key] AND B.x < {n + 1} WITHIN 10 s"
    for n in range(QUERIES)
)


def panes(count: int, bursts: int = 1_500) -> list[pa.Table]:
    """Bursts that queries differ on in two classes: to be shared."""
    draw = np.random.default_rng(2)
    found = []
    for pane in range(count):
        types = ["A", "B", "B", "B"] * bursts
        time = 10_000_000 * pane + np.arange(len(types))
        key = np.repeat(draw.integers(0, 20, bursts), 4)
        x = np.full(len(types), 15.5)
        found.append(pa.table({"time": time, "type": types, "key": key, "x": x}))
    return found


def run(policy: Policy, learner: CostModelFitter | None):
    engine = Engine(WORKLOAD, time_unit="us")
    stream = panes(12)
    engine.bind(stream[0].schema)
    engine.set_policy(policy)
    counts: dict[str, list[float]] = {}
    split = []
    for pane in stream:
        engine.process(pane)
        results = engine.advance(int(pane["time"][-1].as_py()) + 1)
        for name, table in results.items():
            counts.setdefault(name, []).extend(table["n"].to_pylist())
        if learner is not None:
            better = learner.learn(engine.take_samples())
            if better is not None:
                engine.set_policy(replace(better, version=better.version + 1))
        (of_b,) = engine.decisions()[0].types
        split.append(of_b.split / of_b.all)
    for name, table in engine.finish().items():
        counts.setdefault(name, []).extend(table["n"].to_pylist())
    return counts, split


def test_an_engine_learns_to_share_and_its_results_stay() -> None:
    dear = scaled(Policy(), 100.0, "pick", "compare", "walk", "join")
    fixed, always_split = run(dear, None)
    assert always_split[-1] > 0.9
    learner = CostModelFitter(dear)
    counts, split = run(dear, learner)
    assert counts == fixed
    assert split[-1] < 0.5 * always_split[-1], "from some pane on bursts are shared"
    assert learner.policy.pick + learner.policy.compare < 0.5 * (dear.pick + dear.compare)


def test_means_of_alike_bursts_correlate_where_single_ones_are_noise():
    """The clock is off by half either way: what is left of the correlation is noise."""
    learner = CostModelFitter(TRUE)
    assert learner.kinds_correlation is None
    learner.learn(drawn(TRUE, 2_000, noise=0.5))
    single, of_kinds = learner.correlation, learner.kinds_correlation
    assert single is not None
    assert of_kinds is not None
    assert single < of_kinds
    assert of_kinds > 0.95


def test_a_model_that_is_wrong_does_not_correlate_by_means_either():
    learner = CostModelFitter(TRUE)
    bursts = drawn(TRUE, 1_000, noise=0.05)
    shuffled = np.random.default_rng(1).permutation(bursts.nanoseconds)
    learner._record(bursts._replace(nanoseconds=shuffled))
    assert abs(learner.kinds_correlation) < 0.5
