"""MCEP against the enumerator and our engine."""

import pytest
from hypothesis import assume, given, settings

from baselines.sequences import (
    MOST,
    REFUSED,
    RELAXED,
    difference_from_ours,
    drawn,
    judge,
    part_taken,
    refusal,
)
from benchmarks.baselines.elements import Element, elements
from benchmarks.baselines.mcep import Mcep
from benchmarks.baselines.mcep_plan import cores
from benchmarks.baselines.system import Unsupported
from engine.judge import parsed
from oracle.random_cases import Case


@settings(max_examples=150, deadline=None, suppress_health_check=RELAXED)
@given(drawn())
def test_equals_the_enumerator(case: Case) -> None:
    try:
        judge(Mcep(), case)
    except Unsupported:
        assume(False)


def test_takes_most_cases() -> None:
    assert part_taken(Mcep()) >= MOST


@pytest.mark.parametrize("reason", REFUSED)
def test_says_what_it_cannot_express(reason: str) -> None:
    assert reason in refusal(Mcep(), REFUSED[reason])


def test_agrees_with_our_engine_on_a_longer_stream() -> None:
    assert difference_from_ours(Mcep()) is None


def test_refuses_optional_parts() -> None:
    assert "no optional parts" in refusal(Mcep(), "PATTERN SEQ(A, B*)")


def test_shares_a_repeated_type_before_longer_sequences() -> None:
    text = "".join(
        f"QUERY q{n} RETURN COUNT(*) PATTERN SEQ({pattern}) WITHIN 10 us\n"
        for n, pattern in enumerate(("A, B, C+, D", "A, B, E", "C+, D", "P, C+", "A, B, F", "G, H"))
    )
    found = cores({query.name: elements(query, "mcep") for query in parsed(text)})
    assert [(core.part, dict(core.places)) for core in found] == [
        ((Element("C", repeated=True),), {"q0": 2, "q2": 0, "q3": 1}),
        ((Element("A"), Element("B")), {"q1": 0, "q4": 0}),
        ((Element("G"), Element("H")), {"q5": 0}),
    ]
