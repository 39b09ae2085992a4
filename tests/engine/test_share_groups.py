"""Queries that share Kleene parts, over streams in bursts: the compiled engine against the exact
one, to the last bit."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.judge import EXACT, SHARING, as_doubles
from engine.lives import ALWAYS, Life, lived
from oracle.model import Query
from oracle.random_cases import Case
from oracle.random_groups import MOST_EVENTS, groups

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
CUTS = st.lists(st.integers(0, MOST_EVENTS), max_size=8).map(tuple)
EVERYWHERE = tuple(range(MOST_EVENTS))
AT_CUTS = st.lists(st.integers(ALWAYS, 4), min_size=5, max_size=5).map(tuple)
LIVES = st.builds(Life, CUTS, st.booleans(), AT_CUTS, AT_CUTS, st.booleans())


def equal_to_exact(case: Case, life: Life) -> None:
    exact = lived(case, life, EXACT)
    for options in SHARING:
        results = lived(case, life, options)
        for query in case.queries:
            wanted = as_doubles(query, exact.get(query.name))
            got = as_doubles(query, results.get(query.name))
            assert got == wanted, f"{options}: query {query.name}\n{case.text}\n{told(case)}"


def others_unchanged(case: Case, life: Life) -> None:
    """Queries that stay have, to the last bit, the results that they have without the others."""
    staying = [n for n in range(len(case.queries)) if life.joining(n) == life.leaving(n) == ALWAYS]
    alone = Case(tuple(case.queries[n] for n in staying), case.events, case.ties, case.columns)
    for options in SHARING:
        together, apart = (
            lived(case, life, options),
            lived(alone, Life(life.cuts, ahead=life.ahead), options),
        )
        for query in alone.queries:
            assert rows(query, together) == rows(query, apart), f"{query.name}\n{case.text}"


def rows(query: Query, results: dict) -> list[dict]:
    table = results.get(query.name)
    return [] if table is None else table.to_pylist()


def told(case: Case) -> str:
    return "\n".join(f"{e.time} {e.type} {e.attributes}" for e in case.events)


@settings(max_examples=600, suppress_health_check=RELAXED)
@given(groups(), CUTS | st.just(EVERYWHERE), st.booleans())
def test_equals_the_exact_engine(case: Case, cuts: tuple[int, ...], ahead: bool) -> None:
    equal_to_exact(case, Life(cuts, ahead=ahead))


@settings(max_examples=300, suppress_health_check=RELAXED)
@given(groups(), LIVES)
def test_queries_come_and_go(case: Case, life: Life) -> None:
    equal_to_exact(case, life)


@settings(max_examples=200, suppress_health_check=RELAXED)
@given(groups(), LIVES)
def test_other_queries_do_not_notice(case: Case, life: Life) -> None:
    others_unchanged(case, life)


@pytest.mark.slow
@pytest.mark.parametrize("tenth", range(10))  # so that both test processes have work
@settings(max_examples=2_000, suppress_health_check=RELAXED)
@given(groups(), LIVES)
def test_equals_the_exact_engine_in_20_000_cases(tenth: int, case: Case, life: Life) -> None:
    equal_to_exact(case, life)
