"""A workload against the columns of an input, before anything runs and when a query comes."""

import pyarrow as pa
import pytest

from runtime.errors import WorkloadError
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat

COLUMNS = pa.schema(
    [("time", pa.int64()), ("type", pa.string()), ("g", pa.int32()), ("x", pa.float64())]
)
TWO = parse("""
    QUERY a RETURN g, COUNT(*) AS n PATTERN A GROUP-BY g WITHIN 1 minute
    QUERY b RETURN SUM(B.x) AS s PATTERN SEQ(A, B+) WITHIN 1 minute
""")


def bound_workload(
    workload=TWO, columns: pa.Schema = COLUMNS, numeric: str = "float"
) -> BoundWorkload:
    return BoundWorkload(workload, InputFormat(columns=columns), numeric)


def test_only_what_is_used_is_read() -> None:
    assert bound_workload().columns == ["time", "type", "g", "x"]
    assert bound_workload(TWO.without_query("b")).columns == ["time", "type", "g"]


def test_a_query_that_does_not_fit_is_refused() -> None:
    with pytest.raises(WorkloadError, match="no attribute `x`"):
        bound_workload(columns=COLUMNS.remove(3))
    with pytest.raises(WorkloadError, match="`x` is text"):
        bound_workload(columns=COLUMNS.set(3, pa.field("x", pa.string())))


def test_a_window_that_the_times_cannot_show_is_refused() -> None:
    finer = parse("RETURN COUNT(*) PATTERN A WITHIN 500 milliseconds")
    with pytest.raises(WorkloadError, match="the times are in whole seconds"):
        bound_workload(finer)


def test_a_change_gives_another_one() -> None:
    before = bound_workload()
    (added,) = parse("QUERY c RETURN COUNT(*) PATTERN C WHERE [g] WITHIN 1 minute")
    after = before.with_changes((added,), ("b",))
    assert [query.name for query in after.workload] == ["a", "c"]
    assert [query.name for query in before.workload] == ["a", "b"]
    assert after.columns == ["time", "type", "g"]
    assert (before.routing(4, 2).version, after.routing(4, 2).version) == (0, 1)
    assert [route.attributes for route in after.routing(4, 2).routes] == [("g",)]


def test_a_change_that_does_not_fit_changes_nothing() -> None:
    before = bound_workload()
    (wrong,) = parse("QUERY c RETURN SUM(C.y) PATTERN C WITHIN 1 minute")
    with pytest.raises(WorkloadError, match="no attribute `y`"):
        before.with_changes((wrong,), ())
    assert [query.name for query in before.workload] == ["a", "b"]


@pytest.mark.parametrize(("numeric", "kind"), [("float", pa.float64()), ("exact", pa.string())])
def test_results_without_rows_have_their_columns(numeric: str, kind: pa.DataType) -> None:
    empty = bound_workload(numeric=numeric).empty()
    assert list(empty) == ["a", "b"]
    assert empty["a"].schema.names == ["window_start", "window_end", "g", "n"]
    assert empty["a"].schema.field("g").type == pa.int64()
    assert empty["a"].schema.field("n").type == kind


def test_no_partials_no_tables() -> None:
    assert bound_workload().tables([{}, {}]) == {}
