"""Longer parts that a plan lets queries share: the same results as without it, to the last bit,
with plans that come and go while the stream runs."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.judge import EXACT, as_doubles, parsed, settings_of
from engine.lives import Life, Tables, in_order, lived
from oracle.random_cases import Case
from oracle.random_groups import MOST_EVENTS, groups
from runtime.errors import HamletError
from runtime.language.query import Query
from runtime.pipeline.engine import Engine
from runtime.plan.operators.graphlet.shared_subpattern import SharedSubpattern
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharedPart, SharingPlan

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
CUTS = st.lists(st.integers(0, MOST_EVENTS), max_size=6).map(tuple)
#: The transitions among the types of each Kleene part that random groups have.
TRANSITIONS = (
    (("P", "T"), ("T", "P")),
    (("P", "T"), ("T", "P"), ("T", "T")),
    (("B", "B"), ("B", "C"), ("C", "B"), ("C", "C")),
    (("B", "B"),),
)


def shareable(queries: list[Query], transitions: tuple[tuple[str, str], ...]) -> list[str]:
    """As many queries as can share these, by trying."""
    found: list[Query] = []
    for query in queries:
        names = tuple(each.name for each in (*found, query))
        try:
            SharedSubpattern.of(SharedPart(names, transitions), [*found, query])
        except HamletError:
            continue
        alike = {each.window.counted for each in (*found, query)}
        if len(alike) == 1:
            found.append(query)
    return [query.name for query in found]


def plan_of(case: Case) -> SharingPlan | None:
    queries = list(parsed(case.text))
    for transitions in TRANSITIONS:
        names = shareable(queries, transitions)
        if len(names) > 1:
            return SharingPlan(shared=(SharedPart(tuple(names), transitions),))
    return None


def planned(case: Case, cuts: tuple[int, ...], plan: SharingPlan, sharing: str, changing: bool):
    options = settings_of(case, {"numeric": "float", "sharing": sharing})
    engine = Engine(parsed(case.text), plan=plan, **options)
    table, tables = in_order(case), Tables()
    borders = Life(cuts).borders(table.num_rows)
    for cut, (start, stop) in enumerate(pairwise(borders)):
        piece = table.slice(start, stop - start)
        tables.collect(engine.process(piece))
        if piece.num_rows:
            tables.collect(engine.advance(piece["time"][-1].as_py()))
        if changing:
            engine.set_plan((SharingPlan(), plan)[cut % 2])
        elif cut < len(cuts):
            before, engine = engine, Engine(engine.workload, plan=plan, **options)
            engine.restore(before.checkpoint())
    tables.collect(engine.finish())
    return tables.joined()


@settings(max_examples=500, suppress_health_check=RELAXED)
@given(groups(), CUTS, st.sampled_from(("dynamic", "always")), st.booleans())
def test_equals_the_exact_engine(case: Case, cuts, sharing: str, changing: bool) -> None:
    plan = plan_of(case)
    if plan is None:
        return
    exact = lived(case, Life(cuts), EXACT)
    results = planned(case, cuts, plan, sharing, changing)
    for query in case.queries:
        wanted = as_doubles(query, exact.get(query.name))
        got = as_doubles(query, results.get(query.name))
        assert got == wanted, f"{plan}\n{sharing} {cuts} {changing}: {query.name}\n{case.text}"


LONG = """
QUERY a RETURN COUNT(*), SUM(T.x), MIN(T.x), MAX(P.x)
PATTERN SEQ(A, SEQ(P, T)+, C) WITHIN 30 s SLIDE 10 s
QUERY b RETURN COUNT(*), AVG(P.x), COUNT(T) PATTERN SEQ(B, SEQ(P, T)+) WITHIN 20 s
QUERY c RETURN COUNT(*), SUM(C.x) PATTERN SEQ(SEQ(P, T)+, C) WITHIN 30 s SLIDE 10 s
"""
PLAN = SharingPlan(shared=(SharedPart(("a", "b", "c"), (("P", "T"), ("T", "P")), ("P",)),))


@pytest.mark.parametrize("events", [900, 20_000])
def test_large_counts(events: int) -> None:
    """Alternating types, so that counts pass every double."""
    draw = np.random.default_rng(1)
    kinds = np.where(
        draw.random(events) < 0.03, draw.choice([0, 1, 4], events), 2 + np.arange(events) % 2
    )
    names = np.array(["A", "B", "P", "T", "C"])[kinds]
    table = pa.table(
        {
            "time": np.sort(draw.integers(0, 60_000, events)),
            "type": names,
            "x": draw.integers(-5, 6, events).astype(float),
        }
    )
    found = {}
    for name, options in {"plan": {"plan": PLAN}, "none": {}}.items():
        engine = Engine(LONG, time_unit="ms", **options)
        engine.process(table)
        found[name] = engine.finish()
    assert found["plan"].keys() == found["none"].keys() == {"a", "b", "c"}
    for query, wanted in found["none"].items():
        got = found["plan"][query]
        assert got.schema == wanted.schema
        for name in wanted.column_names:
            for one, other in zip(got[name].to_pylist(), wanted[name].to_pylist(), strict=True):
                assert one == pytest.approx(other, rel=1e-9, abs=1e-9), (query, name)


REFUSED = {
    "no such query": (
        {"shared": [{"queries": ["a", "x"], "transitions": [["P", "T"]]}]},
        "not a query",
    ),
    "not a transition": (
        {"shared": [{"queries": ["a", "c"], "transitions": [["P", "T"]]}]},
        "its pattern has the step T to P",
    ),
    "not in the pattern": (
        {"shared": [{"queries": ["a", "b"], "transitions": [["P", "T"], ["T", "P"], ["T", "C"]]}]},
        "has C 0 times",
    ),
    "other snapshots": (
        {
            "shared": [
                {
                    "queries": ["a", "b"],
                    "transitions": [["P", "T"], ["T", "P"]],
                    "snapshots": ["T"],
                }
            ]
        },
        "snapshots are taken there, not at T",
    ),
    "two groups": ({"groups": [["a", "b"], ["b", "c"]]}, "in two groups"),
    "one query": (
        {"shared": [{"queries": ["a"], "transitions": [["P", "T"]]}]},
        "at least two queries",
    ),
    "no transitions": ({"shared": [{"queries": ["a", "b"], "transitions": []}]}, "no transitions"),
    "event by event": (
        {
            "shared": [{"queries": ["a", "b"], "transitions": [["P", "T"], ["T", "P"]]}],
            "granularity": {"b": "event"},
        },
        "evaluates `b` event by event",
    ),
    "another group": (
        {
            "shared": [{"queries": ["a", "b"], "transitions": [["P", "T"], ["T", "P"]]}],
            "groups": [["a", "c"]],
        },
        "with `b`, which is not in its group",
    ),
    "a word": ({"windows": "many"}, "must be one of auto, vectors, panes"),
    "a key": ({"share": []}, "did you mean `shared`"),
    "granularity": ({"granularity": {"a": "burst"}}, "must be one of type, event"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_plans(name: str) -> None:
    data, words = REFUSED[name]
    with pytest.raises(HamletError) as caught:
        Engine(LONG, plan=SharingPlan.read(data), time_unit="ms")
    assert words in f"{caught.value} {caught.value.hint or ''}"


def test_values_made_by_hand_are_checked():
    """Lists will do; what is no plan or policy is refused in words."""
    part = SharedPart(["a", "b"], [["P", "T"], ["T", "P"]])
    engine = Engine(LONG, plan=SharingPlan(shared=[part]), time_unit="ms")
    for wrong in (None, {"shared": []}):
        with pytest.raises(HamletError, match="must be a SharingPlan"):
            engine.set_plan(wrong)
        with pytest.raises(HamletError, match="must be a Policy"):
            engine.set_policy(wrong)
    for fields in ({"scan": float("nan")}, {"scan": -5}, {"scan": "x"}, {"version": 2**70}):
        with pytest.raises(HamletError, match=r"of the policy|policy.s version"):
            Policy(**fields)
    with pytest.raises(HamletError, match="must be one of"):
        SharingPlan(windows="foo")
