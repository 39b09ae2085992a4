"""The optimizer without a cluster: it hears, fits coefficients, re-plans where that pays, and does
not flap."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from optimizer.bursts import TRUE, drawn, predict, scaled
from runtime.language.parser import parse
from runtime.optimizer.coefficient_fit import CoefficientFitter, RunTiming
from runtime.optimizer.local_optimizer import LocalOptimizer
from runtime.optimizer.optimizer import Optimizer, ReplanRequest, WorkloadSnapshot
from runtime.optimizer.rate_tracker import PATIENCE, RateTracker
from runtime.pipeline.engine import Engine
from runtime.plan import cost_model
from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.estimate import OperatorWork
from runtime.plan.observations import Observations, OperatorTime
from runtime.plan.planner import extend_plan, plan
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan

TEXT = "\n".join(
    f"QUERY q{n} RETURN COUNT(*) AS n PATTERN SEQ(A{n}, (SEQ(P, T))+, C{n}) WITHIN 1 s"
    for n in range(30)
)
ENDS = [f"{end}{n}" for end in "AC" for n in range(30)]
ROUNDS = {"P": 100_000, "T": 100_000, **dict.fromkeys(ENDS, 10)}
OTHERS = {"P": 10, "T": 10, **dict.fromkeys(ENDS, 10_000)}


def central(planner: str | None = "gloria", text: str = TEXT) -> Optimizer:
    queries = parse(text).queries
    first = plan(queries, planner or "none").plan
    return Optimizer(WorkloadSnapshot(queries, first), Policy(version=1), planner)


def planned(found: Optimizer):
    request = found.request()
    return None if request is None else found.apply(request.plan())


# ---- rates ---------------------------------------------------------------------------------


def test_what_is_seen_first_is_planned_for():
    rates = RateTracker()
    rates.observe(Observations({"A": 10}))
    assert not rates.changed, "a few events tell nothing"
    rates.observe(Observations({"A": 5_000, "B": 5_000}))
    assert rates.changed


def told(rates: RateTracker, counts: dict[str, int], times: int) -> list[bool]:
    found = []
    for _ in range(times):
        rates.observe(Observations(counts))
        found.append(rates.changed)
    return found


def test_a_change_must_last():
    rates = RateTracker()
    told(rates, {"A": 9_000, "B": 1_000}, 30)
    rates.mark_planned(changed=True)
    assert not any(told(rates, {"A": 8_500, "B": 1_500}, 50)), "small changes are none"
    assert not any(told(rates, {"A": 0, "B": 10_000}, PATIENCE))
    assert any(told(rates, {"A": 0, "B": 10_000}, 20))


def test_plans_that_come_to_the_same_make_patient():
    rates = RateTracker()
    told(rates, {"A": 9_000, "B": 1_000}, 30)
    rates.mark_planned(changed=True)
    waited = []
    for turn in range(4):
        counts = {"A": 0, "B": 10_000} if turn % 2 == 0 else {"A": 10_000, "B": 0}
        waited.append(told(rates, counts, 200).index(True))
        rates.mark_planned(changed=False)
    assert waited == sorted(waited)
    assert waited[-1] > waited[0]


# ---- coefficients --------------------------------------------------------------------------


@pytest.mark.parametrize("by", [0.001, 0.01, 0.04, 1.0, 100.0, 1_000.0])
def test_prices_are_fitted(by: float):
    """From wherever they start."""
    true = CostCoefficients(
        event=20.0, enter=40.0, state=1.5, repeat=2.0, settling=60.0, settle=9.0
    )
    draw = np.random.default_rng(1)
    pricing = CoefficientFitter(
        CostCoefficients(*(by * getattr(CostCoefficients(), name) for name in OperatorWork._fields))
    )
    for _ in range(200):
        works = [OperatorWork(1.0, *draw.uniform(0, 3, 5)) for _ in range(4)]
        pricing.observe(reported(work, work.price(true) * draw.normal(1, 0.02)) for work in works)
    for name in OperatorWork._fields:
        assert getattr(pricing.coefficients, name) == pytest.approx(getattr(true, name), rel=0.2)


def reported(work: OperatorWork, nanoseconds: float, batches: float = 1e-6) -> RunTiming:
    return RunTiming(work, batches, nanoseconds)


def test_small_batches_do_not_make_events_dear():
    true, draw = CostCoefficients(), np.random.default_rng(2)
    pricing = CoefficientFitter(CostCoefficients(event=100.0, enter=1.0))
    for _ in range(300):
        work = OperatorWork(1.0, *draw.uniform(0, 3, 5))
        batches = 1 / draw.choice([20, 200, 2_000])
        taken = work.price(true) + 20_000 * batches
        pricing.observe([reported(work, taken * draw.normal(1, 0.02), batches)])
    work = OperatorWork(1.0, 1.0, 10.0, 1.0)
    assert work.price(pricing.coefficients) == pytest.approx(work.price(true), rel=0.2)


def test_what_runs_say_nothing_about_stays():
    pricing = CoefficientFitter(CostCoefficients(settle=7.0))
    for _ in range(50):
        pricing.observe([reported(OperatorWork(1.0, 1.0, 1.0), 100.0)])
    assert pricing.coefficients.settle == pytest.approx(7.0)
    assert OperatorWork(1.0, 1.0, 1.0).price(pricing.coefficients) == pytest.approx(100.0, rel=0.05)


def test_a_run_that_was_interrupted_is_not_believed():
    pricing = CoefficientFitter(CostCoefficients())
    for _ in range(20):
        pricing.observe([reported(OperatorWork(1.0, 1.0, 1.0), 30.0)])
    before = pricing.coefficients
    pricing.observe([reported(OperatorWork(1.0, 1.0, 1.0), 1e9)])
    assert pricing.coefficients == before


# ---- re-planning ----------------------------------------------------------------------------


def test_another_mix_makes_another_plan():
    found = central()
    before = found.guidance.plan
    assert before is not None
    assert not before.shared
    found.observe("a", Observations(ROUNDS))
    outcome = planned(found)
    assert outcome is not None
    assert outcome.migrated
    assert outcome.after < outcome.before
    after = found.guidance.plan
    assert after is not None
    assert after.shared
    assert after.version == before.version + 1
    assert found.request() is None, "once is enough"


def test_back_again_when_the_stream_changes():
    found = central()
    found.observe("a", Observations(ROUNDS))
    planned(found)
    for _ in range(40):
        found.observe("a", Observations(OTHERS))
        planned(found)
    assert found.guidance.plan is not None
    assert not found.guidance.plan.shared
    assert len(found.replanned) < 6


def test_moving_must_pay():
    found = central()
    found.observe("a", Observations(ROUNDS, state_bytes=10**15))
    outcome = planned(found)
    assert outcome is not None
    assert not outcome.migrated
    assert found.guidance.plan is not None
    assert found.guidance.plan.version == 0


def test_a_given_plan_stays():
    found = central(planner=None)
    found.observe("a", Observations(ROUNDS))
    assert found.request() is None
    assert found.guidance.plan is None


def test_queries_that_came_are_folded_in():
    queries = parse(TEXT).queries
    first, later = queries[:20], queries[20:]
    begun = plan(first, "gloria").plan
    found = Optimizer(WorkloadSnapshot(first, begun), Policy(), "gloria")
    hasty = extend_plan(begun, queries, later, "gloria")
    assert len(hasty.groups) == 2
    found.set_workload(WorkloadSnapshot(queries, hasty, 1))
    assert found.guidance.plan is hasty
    outcome = planned(found)
    assert outcome is not None
    assert outcome.reason == "queries were added or removed"
    assert found.guidance.plan is not None
    assert len(found.guidance.plan.groups) == 1
    assert found.guidance.workload == 1


def test_an_answer_for_another_workload_comes_too_late():
    found = central()
    found.observe("a", Observations(ROUNDS))
    request = found.request()
    assert request is not None
    running = WorkloadSnapshot(parse(TEXT).queries[:5], SharingPlan(), 1)
    found.set_workload(running)
    assert found.apply(request.plan()) is None
    assert found.guidance.plan is running.plan


def test_runs_that_nobody_planned_are_left_out():
    found = central()
    before = found.coefficients
    found.observe("a", Observations(ROUNDS, operator_times=(OperatorTime(("nobody",), 10, 10),)))
    assert found.coefficients == before


# ---- with an engine ------------------------------------------------------------------------


def rounds(events: int, seed: int) -> pa.Table:
    draw = np.random.default_rng(seed)
    times = np.arange(events) * 100
    inside = np.arange(events) % 100 > 2
    ends = draw.integers(0, len(ENDS), events)
    types = [("P", "T")[n % 2] if inside[n] else ENDS[ends[n]] for n in range(events)]
    return pa.table({"time": times, "type": types})


def test_an_engine_follows_its_advisor():
    table = rounds(60_000, 1)
    first = plan(parse(TEXT).queries, "gloria").plan
    engine = Engine(TEXT, plan=first, time_unit="us", kernels="general")
    engine.bind(table.schema)
    advisor = LocalOptimizer(engine, first, "gloria")
    found = []
    for start in range(0, 60_000, 5_000):
        batch = engine.prepare(table.slice(start, 5_000).combine_chunks())
        found.append(engine.execute(batch))
        advisor.update()
        advisor._replan_thread.wait()
    found.append(engine.finish())
    assert advisor.optimizer.replanned
    alone = Engine(TEXT, time_unit="us", kernels="general", sharing="never")
    alone.process(table)
    wanted = alone.finish()
    got = {name: [t[name]["n"] for t in found if name in t] for name in wanted}
    for name, tables in got.items():
        counts = [n for each in tables for n in each.to_pylist()]
        assert counts == pytest.approx(wanted[name]["n"].to_pylist(), rel=1e-9)


# ---- what goes wrong -----------------------------------------------------------------------


def test_a_planner_that_fails_stops_nothing(monkeypatch, caplog):
    """The plan stays; the next change of the stream is planned for again."""
    table = rounds(40_000, 3)
    engine = Engine(TEXT, time_unit="us", kernels="general")
    engine.bind(table.schema)
    advisor = LocalOptimizer(engine, SharingPlan(), "gloria")
    with monkeypatch.context() as broken:
        broken.setattr(ReplanRequest, "plan", lambda request: 1 / 0)
        for start in range(0, 40_000, 2_000):
            engine.execute(engine.prepare(table.slice(start, 2_000).combine_chunks()))
            advisor.update()
            advisor._replan_thread.wait()
    advisor.update()
    assert advisor.optimizer.metrics.replans["failed", False] > 0
    assert advisor.optimizer.plan == SharingPlan()
    assert "re-planning failed" in caplog.text
    advisor.close()


def test_what_cannot_be_learned_from_stops_nothing(monkeypatch):
    found = central()
    monkeypatch.setattr(type(found.model), "learn", no_solution)
    for _ in range(40):
        found.observe("a", Observations(ROUNDS))
    assert planned(found), "it goes on planning"


def no_solution(learner: object, samples: object) -> None:
    raise RuntimeError("Maximum number of iterations reached.")


# ---- facts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("by", "noise"), [(1.0, 0.05), (1.4, 0.05), (0.8, 0.05), (1.0, 0.6)])
def test_facts_tell_how_good_the_model_is(by: float, noise: float):
    """Bursts take as long as TRUE says, and are predicted to take `by` times that."""
    policy = replace(scaled(TRUE, by), version=1)
    found = Optimizer(WorkloadSnapshot(parse(TEXT).queries, SharingPlan()), policy, None)
    assert (found.metrics.correlation, found.metrics.error, found.metrics.timed) == (None, None, 0)

    bursts = drawn(TRUE, 1_000, noise=noise)
    found.observe("a", Observations(samples=bursts))
    clock = 40 * (
        1 + (bursts.kind == cost_model.CLASSES)
    )  # as long as it is taken to take at first
    predicted, measured = predict(policy, bursts) + clock, bursts.nanoseconds
    cut = np.minimum(measured, np.percentile(measured, 98))
    correlation = np.corrcoef(predicted, cut)[0, 1]

    facts = found.metrics
    assert (correlation > 0.95) == (noise < 0.1), "or the cases tell nothing"
    assert facts.correlation == pytest.approx(correlation)
    assert facts.error == pytest.approx(np.median(np.abs(predicted / measured - 1)))
    assert facts.policy == (1 if by == 1.0 else 2)
    assert facts.timed == bursts.size
    assert facts.predicted == pytest.approx(predicted.sum())
    assert facts.measured == measured.sum()


def test_facts_count_what_was_re_planned():
    found = central()
    told = []
    for seen in (Observations(), Observations(ROUNDS), Observations(OTHERS, state_bytes=10**15)):
        for _ in range(40):
            found.observe("a", seen)
            planned(found)
        told.append(found.metrics)
    assert [each.replans.get(("rates", True), 0) for each in told] == [0, 1, 1]
    assert [each.plan for each in told] == [0, 1, 1]
    first, second, third = (sum(each.replans.values()) for each in told)
    assert first == 0 < second < third == len(found.replanned)
    assert [each.reason for each in told[2].last_replans] == [
        each.reason for each in found.replanned
    ]
