"""What SHARON's executor shares, and that it is right where it does."""

from unittest.mock import patch

from hypothesis import given, settings

from baselines.sequences import LONG, RELAXED, difference_from_ours, drawn, judge, long_stream
from benchmarks.baselines import sharon_plan
from benchmarks.baselines.sharon import Sharon
from benchmarks.baselines.sharon_kernel import RUN
from engine.judge import parsed
from oracle.random_cases import Case


def sharing_pays():
    """Small streams share no sequences, since that would not pay."""
    return patch.object(sharon_plan, "_weight", lambda *_: lambda part, queries: len(part))


@settings(max_examples=150, deadline=None, suppress_health_check=RELAXED)
@given(drawn())
def test_equals_the_enumerator_where_all_that_can_is_shared(case: Case) -> None:
    with sharing_pays():
        judge(Sharon(), case)


def test_shares_sequences_and_runs() -> None:
    with sharing_pays():
        prepared = Sharon().prepare(parsed(LONG), long_stream())
        tables = [graph.tables for _, graph in prepared._groups]
    assert [table[:, RUN].tolist() for table in tables] == [[1, 0], [0]]
    with sharing_pays():
        assert difference_from_ours(Sharon()) is None
