"""A-Seq, SHARON's executor and MCEP against the enumerator and our engine."""

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
    taken,
)
from benchmarks.baselines.aseq import ASeq
from benchmarks.baselines.aseq_start import ASeqStart
from benchmarks.baselines.mcep import Mcep
from benchmarks.baselines.sharon import Sharon
from benchmarks.baselines.system import System
from oracle.random_cases import Case

pytestmark = pytest.mark.parametrize(
    "system", [ASeq(), ASeqStart(), Sharon(), Mcep()], ids=lambda each: each.name
)


@settings(max_examples=150, deadline=None, suppress_health_check=RELAXED)
@given(case=drawn())
def test_equals_the_enumerator(system: System, case: Case) -> None:
    if isinstance(system, Mcep):  # the others take all that is drawn
        assume(taken(system, case))
    judge(system, case)


def test_takes_most_cases(system: System) -> None:
    assert part_taken(system) >= MOST


@pytest.mark.parametrize("reason", REFUSED)
def test_says_what_it_cannot_express(system: System, reason: str) -> None:
    assert reason in refusal(system, REFUSED[reason])


def test_agrees_with_our_engine_on_a_longer_stream(system: System) -> None:
    assert difference_from_ours(system) is None
