"""A policy decides how bursts are computed, never what comes out."""

import pyarrow as pa
import pytest

from runtime.errors import HamletError
from runtime.pipeline.engine import Engine
from runtime.plan.policy import Policy

WORKLOAD = "\n".join(
    f"QUERY q{n} RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WHERE B.x < {n} WITHIN 1 day"
    for n in range(1, 9)
)


def run(policy: Policy) -> tuple[dict[str, float], int, int]:
    types = ["A", *"BBBBBB"] * 4
    x = [float(n % 9) for n in range(len(types))]
    engine = Engine(WORKLOAD)
    engine.bind(pa.schema([("time", pa.int64()), ("type", pa.string()), ("x", pa.float64())]))
    engine.set_policy(policy)
    engine.process(pa.table({"time": range(len(types)), "type": types, "x": x}))
    counts = {name: table["n"][0].as_py() for name, table in engine.finish().items()}
    bursts = [found for group in engine.decisions() for found in group.types if found.type == "B"]
    (found,) = bursts
    return counts, found.split, found.shared + found.merged + found.continued


def test_costly_scans_make_bursts_shared_and_costly_picks_split_them() -> None:
    shared = run(Policy(version=1, scan=1e9))
    split = run(Policy(version=2, pick=1e9))
    assert shared[0] == split[0]
    assert shared[1] == 0
    assert shared[2] == 4
    assert split[1] == 4
    assert split[2] == 0


def test_the_exact_engine_takes_no_policy() -> None:
    with pytest.raises(HamletError, match="shares nothing"):
        Engine(WORKLOAD, numeric="exact").set_policy(Policy())
