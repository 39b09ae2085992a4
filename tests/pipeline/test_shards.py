"""A stream in epochs through shards equals the enumerator, whoever owns them."""

import tempfile
from contextlib import nullcontext
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.judge import ENGINES, judge
from engine.lives import Life, expected_of_life, named
from engine.test_against_enumerator import CUTS, LIVES, accepted
from oracle.choices import Size
from oracle.random_cases import Case, cases
from pipeline.shared import lived_in_shards
from pipeline.test_aggregation import snapshots

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
OWNERS = st.lists(st.sampled_from((1, 2, 3, 4, 5)), min_size=1, max_size=3).map(tuple)


def in_shards(drawn: Case, life: Life, owners: tuple[int, ...], whole: bool = False) -> None:
    """`whole`: state is saved as snapshots, never as logs."""
    case = accepted(named(drawn))
    wanted = expected_of_life(case, life)
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as folder, snapshots() if whole else nullcontext():
            judge(case, lived_in_shards(case, life, engine, Path(folder), owners), wanted, engine)


@settings(max_examples=200, suppress_health_check=RELAXED, deadline=None)
@given(cases(), CUTS, st.booleans(), OWNERS)
def test_equals_the_enumerator(
    case: Case, cuts: tuple[int, ...], ahead: bool, owners: tuple[int, ...]
) -> None:
    in_shards(case, Life(cuts, ahead=ahead), owners)


@settings(max_examples=200, suppress_health_check=RELAXED, deadline=None)
@given(cases(), CUTS, OWNERS, st.booleans())
def test_other_owners_go_on_from_what_was_saved(
    case: Case, cuts: tuple[int, ...], owners: tuple[int, ...], whole: bool
) -> None:
    in_shards(case, Life(cuts, restart=True), owners, whole)


@settings(max_examples=200, suppress_health_check=RELAXED, deadline=None)
@given(cases(Size(queries=4)), LIVES, OWNERS, st.booleans())
def test_queries_come_and_go(case: Case, life: Life, owners: tuple[int, ...], whole: bool) -> None:
    in_shards(case, life, owners, whole)
