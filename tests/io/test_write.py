"""Results as files that appear whole or not at all, and on standard output."""

import io
import json
import math
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runtime.errors import HamletError, InputError
from runtime.io import write
from runtime.io.encode import ParquetEncoder, encode_all
from runtime.io.file_names import FileNames, safe_name
from runtime.io.read import open_input
from runtime.io.side_output import SideWriter
from runtime.io.write import ResultWriter
from runtime.pipeline.dead_letter import dead_rows
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.side_tables import DEAD_LETTER, LATE


def write_results(results, output, format="parquet"):
    with ResultWriter(output, format) as writer:
        writer.write(results)


def result(*counts, **more):
    starts = pa.array(range(len(counts)), pa.timestamp("s"))
    return pa.table({"window_start": starts, "trips": pa.array(counts, pa.float64()), **more})


def printed(results, format):
    stream = io.BytesIO()
    with ResultWriter(None, format, stream) as writer:
        for piece in results if isinstance(results, list) else [results]:
            writer.write(piece)
    return stream.getvalue().decode()


# --- a folder ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "suffix"), [("parquet", "parquet"), ("csv", "csv"), ("json", "jsonl")]
)
def test_a_file_per_query_that_our_own_reader_reads(tmp_path, format, suffix):
    output = tmp_path / "deep" / "out"
    write_results({"q1": result(1, 2), "q2": result()}, output, format)
    assert sorted(path.name for path in output.iterdir()) == [f"q1.{suffix}", f"q2.{suffix}"]
    with open_input(output / f"q1.{suffix}") as source:
        rows = [row for block in source for row in block.batch.to_pylist()]
    assert [row["trips"] for row in rows] == [1, 2]


def test_types_survive_in_parquet(tmp_path):
    table = result(1.0, math.inf, group=pa.array(["a", None]))
    milliseconds = table["window_start"].cast(pa.timestamp("ms"))  # Parquet has no seconds
    table = table.set_column(0, "window_start", milliseconds)
    write_results({"q": table}, tmp_path)
    assert pq.read_table(tmp_path / "q.parquet").equals(table)


def test_pieces_are_joined(tmp_path):
    with ResultWriter(tmp_path, "parquet", limit=0) as writer:
        for i in range(5):
            writer.write({"q": result(i)})
    assert pq.read_table(tmp_path / "q.parquet")["trips"].to_pylist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("format", ["parquet", "csv", "json"])
def test_a_column_that_appears_late_is_null_before(tmp_path, format):
    late = pa.table(
        {
            "window_start": pa.array([7], pa.timestamp("s")),
            "trips": [math.inf],
            "trips_log2": [2000.5],
            "sum": [1.0],
        }
    )
    with ResultWriter(tmp_path, format) as writer:
        writer.write({"q": result(1, sum=[5.0])})
        writer.write({"q": late})
        writer.write({"q": result(2, sum=[6.0])})
    numbers = dict.fromkeys(("trips_log2", "sum"), AttributeKind.NUMBER)
    with open_input(next(tmp_path.iterdir()), uses=numbers) as source:
        assert {"trips_log2", "sum"} < set(source.schema.names)
        rows = [row for block in source for row in block.batch.to_pylist()]
    assert [row["trips_log2"] for row in rows] == [None, 2000.5, None]
    assert [row["sum"] for row in rows] == [5.0, 1.0, 6.0]


def test_nothing_appears_before_close_and_old_results_stay_until_then(tmp_path):
    write_results({"q": result(1)}, tmp_path)
    writer = ResultWriter(tmp_path)
    writer.write({"q": result(2), "new": result(3)})
    assert [path.name for path in tmp_path.iterdir()] == ["q.parquet"]
    assert pq.read_table(tmp_path / "q.parquet")["trips"].to_pylist() == [1]
    writer.close()
    assert pq.read_table(tmp_path / "q.parquet")["trips"].to_pylist() == [2]
    assert (tmp_path / "new.parquet").exists()


def test_an_error_leaves_no_trace(tmp_path):
    def fail():
        with ResultWriter(tmp_path, "csv") as writer:
            writer.write({"q": result(1)})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_writing_leaves_no_trace(tmp_path, monkeypatch):
    whole = write.encode_all

    def break_off(batches, target):
        whole(batches, target)
        if len(list(tmp_path.iterdir())) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "encode_all", break_off)
    with pytest.raises(HamletError, match=r"b\.csv: No space left"):
        write_results({"a": result(1), "b": result(2)}, tmp_path, "csv")
    assert list(tmp_path.iterdir()) == []


def test_parquet_given_up_half_way_is_let_go_before_its_file(tmp_path):
    """Else its writer writes once more when Python drops it, and complains aloud."""

    def interrupted():
        yield pa.record_batch({"n": [1]})
        raise KeyboardInterrupt

    with open(tmp_path / "a", "wb") as file:
        target = ParquetEncoder(file, pa.schema([("n", pa.int64())]))
        with pytest.raises(KeyboardInterrupt):
            encode_all(interrupted(), target)
    assert not target._writer.is_open


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="is a file"):
        ResultWriter(tmp_path / "out")
    with pytest.raises(HamletError, match="cannot write"):
        write_results({"q": result(1)}, tmp_path / "out" / "below")
    with pytest.raises(InputError, match="`xml`"):
        ResultWriter(tmp_path, "xml")


def test_names_of_queries_are_safe_and_distinct():
    assert safe_name("pool_trips-1.b") == "pool_trips-1.b"
    assert safe_name("Überfahrt") == "Überfahrt"
    assert safe_name("../a b") == "%2E.%2Fa%20b"
    assert safe_name("_late") == "%5Flate"
    assert len(safe_name("é" * 1_000).encode()) <= 150
    names = FileNames()
    queries = ["a b", "a_b", "a%20b", "A B", "", "x" * 300, "x" * 301, "Trips", "trips"]
    files = [names[query].casefold() for query in queries]
    assert len(set(files)) == len(queries)
    assert names["a b"] == "a%20b"


def test_a_query_cannot_leave_the_folder(tmp_path):
    write_results({"../../evil": result(1)}, tmp_path / "out")
    assert [p.parent for p in tmp_path.rglob("*.parquet")] == [tmp_path / "out"]


# --- standard output --------------------------------------------------------------------------


def test_json_lines_name_their_query_first():
    out = printed({"q1": result(1, math.inf), "q2": result(3, group=["x"])}, "json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert list(rows[0]) == ["query", "window_start", "trips"]
    assert rows == [
        {"query": "q1", "window_start": "1970-01-01T00:00:00", "trips": 1.0},
        {"query": "q1", "window_start": "1970-01-01T00:00:01", "trips": "Infinity"},
        {"query": "q2", "window_start": "1970-01-01T00:00:00", "trips": 3.0, "group": "x"},
    ]


def test_json_is_written_as_it_comes():
    stream = io.BytesIO()
    writer = ResultWriter(None, "json", stream)
    writer.write({"q": result(1)})
    assert stream.getvalue().count(b"\n") == 1


def test_csv_of_one_schema_is_one_table():
    out = printed([{"q1": result(1), "q2": result(2)}, {"q1": result(3)}], "csv")
    assert out.splitlines() == [
        "query,window_start,trips",
        "q1,1970-01-01 00:00:00,1",
        "q1,1970-01-01 00:00:00,3",
        "q2,1970-01-01 00:00:00,2",
    ]


def test_csv_of_several_schemas_is_a_table_each():
    out = printed({"q1": result(1), "q2": result(2, group=["x"])}, "csv")
    assert out.splitlines() == [
        "query,window_start,trips",
        "q1,1970-01-01 00:00:00,1",
        "",
        "query,window_start,trips,group",
        "q2,1970-01-01 00:00:00,2,x",
    ]


def test_csv_quotes_where_it_must():
    table = pa.table({"a,b": ["x", 'q"', "", None, "l\nm"]})
    assert printed({"q": table}, "csv") == (
        'query,"a,b"\n"q","x"\n"q","q"""\n"q",""\n"q",\n"q","l\nm"\n'
    )


def test_a_query_that_groups_by_query():
    table = pa.table({"query": ["mine"], "n": [1]})
    assert json.loads(printed({"q": table}, "json")) == {"_query": "q", "query": "mine", "n": 1}


def test_parquet_of_one_query_only():
    stream = io.BytesIO()
    with ResultWriter(None, "parquet", stream) as writer:
        writer.write({"q": result(1)})
        writer.write({"q": result(2)})
    assert pq.read_table(io.BytesIO(stream.getvalue()))["trips"].to_pylist() == [1, 2]
    with pytest.raises(InputError, match="one query as Parquet"):
        printed({"q1": result(1), "q2": result(2)}, "parquet")
    with pytest.raises(InputError, match="`q1` and `q2`"):
        ResultWriter(None, "parquet", io.BytesIO(), queries=["q1", "q2"])


def test_an_empty_result_has_its_header():
    assert printed({"q": result()}, "csv") == "query,window_start,trips\n"
    assert printed({}, "csv") == ""


@pytest.mark.parametrize("format", ["json", "parquet"])
def test_a_broken_pipe_ends_quietly(format, root):
    code = f"""
import pyarrow as pa
from runtime.io.write import ResultWriter
import sys, time
with ResultWriter(None, {format!r}) as writer:
    for i in range(50):
        writer.write({{"q": pa.table({{"n": [str(j * i) for j in range(5_000)]}})}})
    sys.stdin.read()
print("broken" if writer.broken else "whole", file=sys.stderr)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=root,
    )
    process.stdout.close()
    process.stdin.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert errors == b"broken\n"


# --- beside the results -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "suffix"), [("parquet", "parquet"), ("csv", "csv"), ("json", "jsonl")]
)
def test_dead_letters_in_the_format_of_the_results(tmp_path, format, suffix):
    with SideWriter(tmp_path, DEAD_LETTER, format) as side:
        side.write(dead_rows("a.csv", [1], ["the time is null"], ['{"v": "a,b"}']))
        side.write(dead_rows("b.csv", [None], ["damaged"], [None]))
        assert side.rows == 2
    with open_input(tmp_path / DEAD_LETTER / f"events.{suffix}") as source:
        rows = [row for block in source for row in block.batch.to_pylist()]
    assert [row["row"] for row in rows] == [1, None]
    assert rows[0]["event"] == '{"v": "a,b"}'


def test_no_late_rows_no_file_and_no_stale_one(tmp_path):
    with SideWriter(tmp_path, LATE) as side:
        side.write(pa.table({"x": pa.array([], pa.int64())}))
    assert list(tmp_path.iterdir()) == []
    with SideWriter(tmp_path, LATE) as side:
        side.write(pa.table({"x": [1]}))
    assert (tmp_path / LATE / "events.parquet").exists()
    with SideWriter(tmp_path, LATE):
        pass
    assert list(tmp_path.iterdir()) == []


def test_dead_letters_are_dropped_on_an_error(tmp_path):
    def fail():
        with SideWriter(tmp_path, DEAD_LETTER) as side:
            side.write(dead_rows("a", [1], ["x"], ["{}"]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []
