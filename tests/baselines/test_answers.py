"""Partitions of a group are one row in each window, however far apart windows are."""

import pyarrow as pa
import pytest

from benchmarks.baselines.registry import system
from benchmarks.baselines.same import different
from runtime.language.parser import parse

SYSTEMS = ("greta", "cogra", "sase", "a-seq", "a-seq-start", "sharon", "mcep")


@pytest.mark.parametrize("gap", [5, 10**12])
@pytest.mark.parametrize("name", SYSTEMS)
def test_partitions_are_combined(name: str, gap: int) -> None:
    table = pa.table(
        {
            "time": [0, 1, 2, 3, *(gap + i for i in range(4))],
            "type": ["A"] * 8,
            "window": ["u", "u", None, "v", "v", None, "u", None],  # a name like any other
            "slot": [1, 2, 1, 1, 1, 1, 2, 2],
            "x": [4.0, 2.0, None, 7.0, 1.0, 3.0, None, 5.0],
        }
    )
    text = (
        "RETURN window, COUNT(*), SUM(A.x), AVG(A.x), MIN(A.x), MAX(A.x) PATTERN A+ "
        "WHERE [window, slot] GROUP-BY window WITHIN 5 us"
    )
    workload = parse(text)
    ours = system("hamlet").prepare(workload, table).run()
    assert ours["q1"].num_rows == 6
    assert different(workload, system(name).prepare(workload, table).run(), ours) is None


@pytest.mark.parametrize("name", SYSTEMS[:3])
def test_queries_with_the_same_slices_keep_their_own_events(name: str) -> None:
    table = pa.table({"time": [0, 1, 2, 3, 7, 8], "type": list("ABCABD"), "k": [1, 1, 2, 1, 2, 2]})
    ends = "WHERE [k] WITHIN 4 us SLIDE 2 us"
    text = "\n".join(
        f"QUERY q{n} RETURN COUNT(*) PATTERN {pattern} {ends}"
        for n, pattern in enumerate(("SEQ(A, B)", "D", "B+", "SEQ(C, D)", "A"))
    )
    workload = parse(text)
    ours = system("hamlet").prepare(workload, table).run()
    assert different(workload, system(name).prepare(workload, table).run(), ours) is None
