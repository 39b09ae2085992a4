"""Every engine against the naive enumerator, over all of the language."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from engine.judge import (
    ENGINES,
    expected,
    judge,
    parsed,
    refused_with_reason,
    settings_of,
    table_of,
)
from engine.lives import Life, expected_of_life, lived, named
from oracle.choices import Size, Tape
from oracle.model import CONTIGUOUS, NEXT, And, Leaf, Plus, Query, Seq, Window, workload_text
from oracle.random_cases import EVENT_BYTES, Case, TypeDraw, cases, draw_events
from oracle.random_patterns import PatternDraw
from runtime.errors import WorkloadError
from runtime.pipeline.engine import aggregate
from runtime.plan.planners.registry import PLANNERS

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
CUTS = st.lists(st.integers(0, 14), max_size=7).map(tuple)
AT_CUTS = st.lists(st.integers(-1, 3), min_size=3, max_size=3).map(tuple)
PLANNED = st.lists(st.sampled_from(sorted(PLANNERS)), min_size=1, max_size=3).map(tuple)
LIVES = st.builds(
    Life,
    st.lists(st.integers(0, 14), min_size=1, max_size=4).map(tuple),
    st.booleans(),
    AT_CUTS,
    AT_CUTS,
    st.booleans(),
)


def accepted(case: Case) -> Case:
    """The case without the queries that the language refuses for an alias that is not unique."""
    if not refused(case.queries):
        return case
    kept = tuple(query for query in case.queries if not refused((query,)))
    if not kept:
        reject()
    return replace(case, queries=kept)


def refused(queries: tuple[Query, ...]) -> bool:
    try:
        parsed(workload_text(queries))
    except WorkloadError as error:
        if refused_with_reason(error):
            return True
        raise
    return False


def whole_input(drawn: Case) -> None:
    case = accepted(drawn)
    wanted, table = expected(case), table_of(case)
    for engine in ENGINES:
        results = aggregate(parsed(case.text), table, **settings_of(case, engine))
        judge(case, results, wanted, engine)


def in_pieces(drawn: Case, life: Life) -> None:
    case = accepted(named(drawn))
    wanted = expected_of_life(case, life)
    for engine in ENGINES:
        judge(case, lived(case, life, engine), wanted, engine)


@settings(max_examples=600, suppress_health_check=RELAXED)
@given(cases())
def test_equals_the_enumerator(case: Case) -> None:
    whole_input(case)


@settings(max_examples=600, suppress_health_check=RELAXED)
@given(cases(), CUTS, st.booleans())
def test_does_not_depend_on_where_batches_are_cut(
    case: Case, cuts: tuple[int, ...], ahead: bool
) -> None:
    in_pieces(case, Life(cuts, ahead=ahead))


@settings(max_examples=600, suppress_health_check=RELAXED)
@given(cases(), CUTS)
def test_a_restart_from_a_checkpoint_changes_nothing(case: Case, cuts: tuple[int, ...]) -> None:
    in_pieces(case, Life(cuts, restart=True))


@settings(max_examples=600, suppress_health_check=RELAXED)
@given(cases(Size(queries=4)), LIVES)
def test_queries_come_and_go(case: Case, life: Life) -> None:
    in_pieces(case, life)


@settings(max_examples=300, suppress_health_check=RELAXED)
@given(cases(Size(queries=6)), LIVES, PLANNED)
def test_does_not_depend_on_plans_that_change(
    case: Case, life: Life, planners: tuple[str, ...]
) -> None:
    in_pieces(case, replace(life, planners=planners))


def of_pairs(data: bytes) -> Case:
    """`P & Q` where both begin alike, so that a partial trend is often one of both sides, and an
    event that extends it on one side does not on the other."""
    tape = Tape(data)
    sides = [
        Seq((Plus(Leaf("A")) if tape.chance(50) else Leaf("A"), drawn.side()))
        for drawn in (PatternDraw(tape.piece(40), ("A", "B", "C"), Size(leaves=3)) for _ in "PQ")
    ]
    semantics = tape.one_of(NEXT, NEXT, NEXT, CONTIGUOUS)
    query = Query(And(*sides), window=Window(20), semantics=semantics)
    types, start = TypeDraw((query,), query), tape.number(-9, 9)
    pieces = [tape.piece(EVENT_BYTES) for _ in range(8)]
    events = draw_events(pieces, types, columns := {"x": "int"}, start, 1)
    return Case((query,), tuple(events), tape.one_of("strict", "arrival"), columns)


@settings(max_examples=600, suppress_health_check=RELAXED)
@given(st.binary(min_size=200, max_size=200).map(of_pairs))
def test_pairs_of_trends_equal_the_enumerator(case: Case) -> None:
    whole_input(case)


@pytest.mark.slow
@pytest.mark.parametrize("tenth", range(10))  # so that both test processes have work
@settings(max_examples=2_000, suppress_health_check=RELAXED)
@given(cases())
def test_equals_the_enumerator_in_20_000_cases(tenth: int, case: Case) -> None:
    whole_input(case)


@pytest.mark.slow
@pytest.mark.parametrize("tenth", range(10))
@settings(max_examples=2_000, suppress_health_check=RELAXED)
@given(cases(Size(queries=4)), LIVES)
def test_queries_come_and_go_in_20_000_cases(tenth: int, case: Case, life: Life) -> None:
    in_pieces(case, life)
