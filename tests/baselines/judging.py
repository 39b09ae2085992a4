"""Puts a case through a system of the benchmarks and holds the outcome against the enumerator."""

from benchmarks.baselines.registry import system
from benchmarks.baselines.system import Unsupported
from engine.judge import expected, judge, parsed, refused_with_reason, table_of
from oracle.random_cases import Case
from runtime.errors import WorkloadError


def check(system_name: str, case: Case) -> bool:
    """Whether the system takes the case. If so it must be right, also when it runs again."""
    if case.ties != "strict":
        return False  # what no system but ours can be told
    try:
        workload = parsed(case.text)
    except WorkloadError as error:
        if refused_with_reason(error):
            return False
        raise
    try:
        prepared = system(system_name).prepare(workload, table_of(case).sort_by("time"))
    except Unsupported:
        return False
    wanted = expected(case)
    for _ in range(2):
        prepared.ready()
        judge(case, prepared.run(), wanted, {"numeric": "float", "system": system_name})
    return True
