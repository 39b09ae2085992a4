from hypothesis import HealthCheck, given, settings

from baselines.sequences import drawn, judge
from benchmarks.baselines.aseq import ASeq
from oracle.random_cases import Case

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=300, deadline=None, suppress_health_check=RELAXED)
@given(drawn())
def test_equals_the_enumerator(case: Case) -> None:
    judge(ASeq(), case)
