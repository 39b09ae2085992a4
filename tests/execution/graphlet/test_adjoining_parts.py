"""Several longer parts in one query, some of them side by side: events of the types in between, and
of those farther away, come at random."""

from random import Random

import pytest

from execution.graphlet.sequences import cut, results, stream, workload
from runtime.plan.sharing_plan import SharedPart, SharingPlan


def shared(run: str, names: list[str], text: str) -> SharedPart:
    steps = [(run[n], run[n + 1]) for n in range(len(run) - 1)]
    if f"SEQ({', '.join(run)}))+" in text:
        steps.append((run[-1], run[0]))
    return SharedPart(tuple(names), tuple(steps))


@pytest.mark.parametrize("seed", range(60))
def test_equals_the_exact_engine(seed: int) -> None:
    random = Random(seed)
    runs = cut(random)
    text, found = workload(random, runs)
    table = stream(random)
    plan = SharingPlan(shared=tuple(shared(run, names, text) for run, names in found.items()))
    wanted = results(text, table, numeric="exact")
    got = results(text, table, plan=plan, kernels="general")
    assert got.keys() == wanted.keys()
    for name, rows in wanted.items():
        assert got[name] == rows, (name, text, plan)


def test_some_have_several() -> None:
    """Else nothing adjoins."""
    found = [workload(random, cut(random))[1] for random in map(Random, range(60))]
    assert sum(len(parts) > 1 for parts in found) > 30
