"""A rehearsed change compiles nothing when it is made."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from runtime.errors import HamletError
from runtime.execution.operators.graphlet.operator import GraphletOperator
from runtime.language.parser import parse
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.rehearsal import Rehearsal
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.plan.sharing_plan import SharingPlan

TESTS = Path(__file__).parents[1]
RIDES = TESTS.parent / "examples" / "ridesharing" / "workload.sase"


@pytest.mark.slow
def test_a_rehearsed_change_compiles_nothing():
    """In a process of its own, where no function has been loaded yet."""
    command = [sys.executable, "-m", "pipeline.rehearsed_change", RIDES]
    places = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}"}
    done = subprocess.run(command, env=places, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["rehearsed"] > 30
    assert told["rows"] > 1_000
    assert told["new"] == []


@pytest.mark.parametrize("numeric", ["float", "exact"])
def test_attributes_of_any_type(numeric: str):
    types = {
        "a": pa.int8(),
        "b": pa.uint64(),
        "c": pa.float32(),
        "d": pa.bool_(),
        "e": pa.string(),
        "f": pa.date32(),
        "g": pa.timestamp("ns", "UTC"),
        "h": pa.decimal128(20, 4),
        "i": pa.duration("s"),
        "j": pa.time32("s"),
        "k": pa.large_string(),
        "l": pa.dictionary(pa.int32(), pa.string()),
        "m": pa.null(),
    }
    columns = pa.schema([("time", pa.timestamp("s")), ("type", pa.string()), *types.items()])
    keys = [
        f"QUERY q{name} RETURN {name}, COUNT(*) AS n PATTERN SEQ(A, B+) GROUP-BY {name} "
        "WITHIN 1 minute"
        for name in types
    ]
    sums = ", ".join(f"SUM(B.{name}) AS {name}" for name in "abc")
    added = parse("\n".join([*keys, f"QUERY s RETURN {sums} PATTERN B+ WITHIN 10 events"]))
    running = parse("QUERY first RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 hour")
    change = WorkloadChange(added.queries, ("first",))
    Rehearsal(Settings(numeric), InputFormat(columns=columns), running, change, None).run()


COLUMNS = pa.schema([("time", pa.int64()), ("type", pa.string()), ("x", pa.float64())])
TWO = """
QUERY a RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 1 minute
QUERY b RETURN COUNT(*) AS n PATTERN SEQ(C, B+) WITHIN 1 minute
"""


def test_a_plan_alone_moves_state():
    workload, started = parse(TWO), []
    plans = [SharingPlan(groups=groups) for groups in ((("a",), ("b",)), (("a", "b"),))]
    start = GraphletOperator.__init__

    def record(operator, queries, *arguments, **options):
        names = tuple(query.name for query in queries)
        if {"a", "b"}.issuperset(names):  # and not those of another test's thread
            started.append(names)
        start(operator, queries, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GraphletOperator, "__init__", record)
        settings = Settings(plan=plans[0])
        Rehearsal(settings, InputFormat(columns=COLUMNS), workload, None, plans[1]).run()
    assert set(started) == {("a",), ("b",), ("a", "b")}


def test_what_the_change_would_raise():
    change = WorkloadChange(parse("RETURN SUM(A.x) AS s PATTERN A+ WITHIN 1 minute").queries)
    plan = SharingPlan(groups=(("a", "nobody"),))
    rehearsal = Rehearsal(Settings(), InputFormat(columns=COLUMNS), parse(TWO), change, plan)
    with pytest.raises(HamletError):
        replace(rehearsal, change=WorkloadChange(removed=("nobody",))).run()
    rehearsal.run()  # a plan may name queries of other shards
