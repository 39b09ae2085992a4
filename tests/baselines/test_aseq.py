"""A-Seq against the enumerator and our engine."""

import pytest
from hypothesis import given, settings

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
from benchmarks.baselines.aseq import ASeq
from engine.judge import parsed
from engine.streams import stream
from oracle.random_cases import Case


@settings(max_examples=150, deadline=None, suppress_health_check=RELAXED)
@given(drawn())
def test_equals_the_enumerator(case: Case) -> None:
    judge(ASeq(), case)


def test_takes_most_cases() -> None:
    assert part_taken(ASeq()) >= MOST


@pytest.mark.parametrize("reason", REFUSED)
def test_says_what_it_cannot_express(reason: str) -> None:
    assert reason in refusal(ASeq(), REFUSED[reason])


def test_agrees_with_our_engine_on_a_longer_stream() -> None:
    assert difference_from_ours(ASeq()) is None


def test_keeps_a_counter_for_each_prefix_of_each_flattened_sequence() -> None:
    query = "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 us"
    prepared = ASeq().prepare(parsed(query), stream("a1 b2 b3 b4"))
    (answer,) = prepared.run().values()
    assert answer["COUNT(*)"].to_pylist() == [7.0]
    assert prepared.state_bytes == 8 * (2 + 3 + 4)
