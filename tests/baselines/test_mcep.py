from hypothesis import HealthCheck, assume, given, settings

from baselines.sequences import drawn, judge
from benchmarks.baselines.mcep import Mcep
from benchmarks.baselines.system import Unsupported
from oracle.random_cases import Case

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=300, deadline=None, suppress_health_check=RELAXED)
@given(drawn())
def test_equals_the_enumerator(case: Case) -> None:
    try:
        judge(Mcep(), case)
    except Unsupported:
        assume(False)
