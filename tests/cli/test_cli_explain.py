"""`hamlet explain`: the explanation in each format, printed or written."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest


def test_text(hamlet):
    done = hamlet("explain", "ride.sase")
    assert done.exit_code == 0
    assert "  pattern        SEQ(Request R, Travel T+, Dropoff D)" in done.stdout.splitlines()


def test_json(hamlet):
    found = json.loads(hamlet("explain", "ride.sase", "--format", "json").stdout)
    assert found["queries"][0]["name"] == "ride"


def test_dot(hamlet):
    assert hamlet("explain", "ride.sase", "--format", "dot").stdout.startswith("digraph")


def test_svg(hamlet):
    ET.fromstring(hamlet("explain", "ride.sase", "--format", "svg").stdout)


@pytest.mark.parametrize(
    ("name", "start"),
    [("t.svg", "<svg"), ("t.json", "{"), ("t.dot", "digraph"), ("t.txt", "1 query")],
)
def test_the_name_of_the_output_tells_the_format(hamlet, folder: Path, name: str, start: str):
    done = hamlet("explain", "ride.sase", "--output", name)
    assert (done.exit_code, done.output) == (0, "")
    assert (folder / name).read_text().startswith(start)


def test_ties(hamlet):
    assert "as they arrived" in hamlet("explain", "ride.sase", "--ties", "arrival").stdout


def test_schema(hamlet, folder: Path):
    """The operators are those for the types of a data file, or of declared attributes."""
    (folder / "names.sase").write_text(
        "RETURN COUNT(*) PATTERN T+ WHERE T.name < NEXT(T).name WITHIN 10 s"
    )
    guessed = hamlet("explain", "names.sase").stdout
    assert "  operator       range_index" in guessed.splitlines()
    assert "attribute types assumed from the queries" in guessed.splitlines()[0]
    (folder / "types.yaml").write_text("T: {name: text}")
    given = hamlet("explain", "names.sase", "--schema", "types.yaml").stdout
    assert "  operator       general" in given.splitlines()
    assert "assumed" not in given.splitlines()[0]


def test_the_plan_of_an_input(process):
    """Types come from the input, and Spark shows how it reads the columns in use."""
    running = process("explain", "ride.sase", "--input", "ride.csv", "--format", "json")
    out, err = running.communicate()
    assert running.returncode == 0, err
    assert err.decode().splitlines() == ["starting Spark for its plan of the input"]
    found = json.loads(out)
    assert found["assumed_types"] == []
    assert found["input"]["name"] == "ride.csv"
    plan = found["input"]["plan"]
    assert all(each in plan for each in ("ride.csv", "speed", "__fault", "__pane__")), plan
    assert "Python" not in plan
    assert "more fields" not in plan  # Spark cuts long lists by default


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("generate:ridesharing?events=1000",), "Scan parquet"),
        (("ride.csv", "--follow"), "ride.csv is not a folder"),
        (("incoming", "--follow", "--schema", "types.yaml"), "try_cast"),
    ],
)
def test_plans_of_other_inputs(process, folder: Path, arguments: tuple[str, ...], wanted: str):
    (folder / "incoming").mkdir()
    (folder / "incoming" / "1.csv").write_text((folder / "ride.csv").read_text())
    (folder / "types.yaml").write_text("Request: {speed: int}\nTravel: {speed: int}\nDropoff: {}")
    out, err = process("explain", "ride.sase", "--input", *arguments).communicate()
    assert wanted in (out + err).decode(), out + err


RATE = ("spark:rate", "--follow", "--time-column", "timestamp", "--type-column", "value")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "arguments", "scan"),
    [
        ("speed", ("spark:csv?path=ride.csv&header=true&inferSchema=true",), "Scan csv"),
        ("value", RATE, "MicroBatchScan"),
    ],
    ids=["a frame", "a streaming frame"],
)
def test_the_plans_of_a_frame(process, folder: Path, key: str, arguments, scan: str):
    """Spark's own, and ours over its rows."""
    (folder / "q.sase").write_text(f'RETURN COUNT(*) PATTERN "1" n+ WHERE [{key}] WITHIN 10 s')
    out, err = process("explain", "q.sase", "--input", *arguments).communicate()
    of_frame, ours = out.decode().split("== Physical Plan ==")[1:]
    assert scan in of_frame, err
    assert "over the rows of this one" in of_frame
    assert all(each in ours for each in ("Scan ExistingRDD", "__fault", "__shard_0", "__pane__"))
    assert "Python" not in of_frame + ours


def test_a_socket_is_not_asked(hamlet):
    done = hamlet("explain", "ride.sase", "--input", "socket://127.0.0.1:9", "--follow")
    assert done.exit_code == 1
    assert "rows that are read from it are gone" in done.stderr


def test_without_an_input_how_to_read_one_says_nothing(hamlet):
    done = hamlet("explain", "ride.sase", "--time-column", "at")
    assert done.exit_code == 1
    assert "--time-column is for --input" in done.stderr
    assert hamlet("explain", "ride.sase", "--schema", "ride.csv").exit_code == 0


def test_a_schema_that_the_queries_do_not_fit(hamlet, folder: Path):
    (folder / "types.yaml").write_text("Request: {rider: text}")
    done = hamlet("explain", "ride.sase", "--schema", "types.yaml")
    assert done.exit_code == 1
    assert "the schema has no event type `Travel`" in done.stderr


def test_output_that_cannot_be_written(hamlet):
    done = hamlet("explain", "ride.sase", "--output", "none/template.svg")
    assert done.exit_code == 1
    assert "cannot write none/template.svg: No such file or directory" in done.stderr


def test_errors_in_the_queries(hamlet, folder: Path):
    (folder / "bad.sase").write_text("RETURN COUNT(*) PATTERN SEQ(A WITHIN 1 s")
    done = hamlet("explain", "bad.sase")
    assert done.exit_code == 1
    assert "bad.sase:1:30: error" in done.stderr
