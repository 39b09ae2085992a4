"""The general run against the naive enumerator, over all of the language. The numbers of such
small streams are exact, so they must be equal to the last bit."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.judge import expected, found, table_of
from engine.test_against_enumerator import RELAXED, accepted, of_pairs
from execution.general.alone import results
from oracle.model import query_names
from oracle.random_cases import Case, cases


def check(drawn: Case, cuts: list[int], **options: Any) -> None:
    case = accepted(drawn)
    tables = results(case.text, table_of(case), cuts, ties=case.ties, time_unit="us", **options)
    wanted = expected(case)
    for name, query in zip(query_names(case.queries), case.queries, strict=True):
        got = found(query, tables[name])
        assert got == as_doubles(wanted[name]), f"query {name}\n{case.text}"


def as_doubles(rows: dict[Any, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """Exact results, whole (perhaps as decimal text) or rational, rounded once."""
    return {
        key: {name: float(v) if isinstance(v, str | Fraction) else v for name, v in row.items()}
        for key, row in rows.items()
    }


@settings(max_examples=600, suppress_health_check=RELAXED)
@given(cases())
def test_equals_the_enumerator(case: Case) -> None:
    check(case, [])


@settings(max_examples=300, suppress_health_check=RELAXED)
@given(cases(), st.lists(st.integers(0, 14), max_size=4))
def test_does_not_depend_on_where_batches_are_cut(case: Case, cuts: list[int]) -> None:
    check(case, cuts)


@settings(max_examples=200, suppress_health_check=RELAXED)
@given(cases(), st.lists(st.integers(0, 14), max_size=3))
def test_a_restart_changes_nothing(case: Case, cuts: list[int]) -> None:
    check(case, cuts, restart=True)


@settings(max_examples=200, suppress_health_check=RELAXED)
@given(st.binary(min_size=200, max_size=200).map(of_pairs))
def test_pairs_of_trends_equal_the_enumerator(case: Case) -> None:
    check(case, [])


@pytest.mark.slow
@settings(max_examples=20_000, suppress_health_check=RELAXED)
@given(cases())
def test_equals_the_enumerator_in_20_000_cases(case: Case) -> None:
    check(case, [])
