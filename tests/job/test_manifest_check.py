"""A run that resumes is compared with the manifest of its checkpoint."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from hamlet.job.job_options import JobOptions
from hamlet.job.manifest_check import check_options, fingerprints, merged_schema, workload_change
from hamlet.job.resolved_input import InputOptions
from runtime.errors import HamletError
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.pipeline.manifest import Manifest, RunCounts
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings

COLUMNS = pa.schema([("time", pa.int64()), ("type", pa.string())])
A = "QUERY a RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 minute\n"
B = "QUERY b RETURN COUNT(*) AS n PATTERN B+ WITHIN 1 minute\n"
C = "QUERY c RETURN COUNT(*) AS n PATTERN C+ WITHIN 1 minute\n"
OTHER_A = A.replace("A+", "A")
OTHER_C = C.replace("C+", "C")


def manifest(running: str, given: str) -> Manifest:
    return Manifest(
        epoch=3,
        job="job",
        source="events",
        position={},
        watermark=None,
        newest=None,
        clocks={},
        workload=parse(running),
        since={},
        given=fingerprints(parse(given)),
        input_format=InputFormat("time", "type", "ms", COLUMNS),
        settings={"numeric": "float", "ties": "strict"},
        shards=8,
        units={},
        counts=RunCounts(),
    )


def difference(now: str, running: str, given: str) -> tuple[list[str], list[str]]:
    change = workload_change(manifest(running, given), parse(now), JobOptions())
    return ([], []) if change is None else ([q.name for q in change.added], list(change.removed))


# ---- queries -------------------------------------------------------------------------------


def test_the_same_queries_are_no_change():
    assert workload_change(manifest(A + B, A + B), parse(B + A), JobOptions()) is None


def test_queries_that_the_user_adds_and_removes():
    assert difference(B + C, running=A + B, given=A + B) == (["c"], ["a"])


def test_queries_that_changed_while_the_job_ran_stay_so():
    """`c` was added and `b` removed by `hamlet query`."""
    assert difference(A + B, running=A + C, given=A + B) == ([], [])
    assert difference(A + B + C, running=A + C, given=A + B) == ([], [])
    assert difference(A, running=A + C, given=A + B) == ([], [])


def test_a_changed_query_needs_a_new_name():
    with pytest.raises(HamletError, match="`a` is not the query of the checkpoint"):
        difference(OTHER_A, running=A, given=A)


def test_a_name_that_another_query_has_taken():
    with pytest.raises(HamletError, match="another query called `c`"):
        difference(A + OTHER_C, running=A + C, given=A)


def test_a_watched_file_is_compared_later():
    options = JobOptions(watch=Path("queries.sase"))
    assert workload_change(manifest(A, A), parse(OTHER_A), options) is None


# ---- options -------------------------------------------------------------------------------

INPUT = InputOptions("events", ReadRequest("time", "type", {}), unit="ms")


def test_the_same_options():
    check_options(manifest(A, A), JobOptions(actors=8), INPUT)


@pytest.mark.parametrize(
    ("options", "input", "named"),
    [
        (JobOptions(settings=Settings(numeric="exact")), INPUT, "--numeric float"),
        (JobOptions(settings=Settings(ties="arrival")), INPUT, "--ties strict"),
        (JobOptions(), replace(INPUT, needs=ReadRequest("at", "type", {})), "--time-column time"),
        (JobOptions(), replace(INPUT, needs=ReadRequest("time", "kind", {})), "--type-column type"),
        (JobOptions(), replace(INPUT, unit="s"), "--time-unit ms"),
        (JobOptions(actors=9), INPUT, "8 shards"),
    ],
)
def test_options_that_would_change_the_results(options, input, named):
    with pytest.raises(HamletError, match=named):
        check_options(manifest(A, A), options, input)


# ---- columns -------------------------------------------------------------------------------


def test_known_columns_keep_their_types_and_order():
    found = pa.schema([("x", pa.float64()), ("type", pa.large_string()), ("time", pa.int64())])
    assert merged_schema(manifest(A, A), found) == COLUMNS.append(pa.field("x", pa.float64()))
    assert merged_schema(manifest(A, A), None) == COLUMNS
    assert merged_schema(None, found) == found
