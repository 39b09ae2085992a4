"""`hamlet run`: inputs, outputs, and what is said beside them."""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

ROW = {"window_start": 0, "window_end": 600, "n": 3.0, "total": 60.0}


# ---- results on standard output ------------------------------------------------------------


def test_table(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "ride  1 row",
        " window_start   window_end   n   total",
        " ─────────────────────────────────────",
        "            0          600   3      60",
    ]


def test_json_and_nothing_else(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--format", "json")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"query": "ride", **ROW}]


def test_csv_with_line_breaks_in_quotes(hamlet, folder):
    (folder / "odd.csv").write_text('time,type,speed,note\n1,Request,1,"a\nb"\n')
    (folder / "odd.sase").write_text("RETURN COUNT(*) AS n PATTERN Request WITHIN 10 seconds\n")
    refused = hamlet("run", "odd.sase", "--input", "odd.csv")
    assert refused.exit_code == 1
    assert "hint: add it to the input: --input events.csv?multiline=true" in refused.stderr
    done = hamlet("run", "odd.sase", "--input", "odd.csv?multiline=true", "--format", "csv")
    assert done.stdout.splitlines()[1].endswith(",1")


def test_csv_and_nothing_else(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert row == {
        "query": "ride",
        "window_start": "0",
        "window_end": "600",
        "n": "3",
        "total": "60",
    }


def test_parquet_of_one_query(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--format", "parquet")
    assert pq.read_table(pa.BufferReader(done.stdout_bytes)).to_pylist() == [ROW]


def test_parquet_of_two_queries_needs_a_folder(hamlet, folder: Path):
    text = (folder / "ride.sase").read_text()
    (folder / "two.sase").write_text(text + text.replace("ride", "again"))
    done = hamlet("run", "two.sase", "--input", "ride.csv", "--format", "parquet")
    assert done.exit_code == 1
    assert "name a folder with --output" in done.stderr


def test_exact_numbers_keep_every_digit(hamlet, folder: Path):
    rows = "".join(f"{second},A\n" for second in range(200))
    (folder / "many.csv").write_text("time,type\n" + rows)
    (folder / "many.sase").write_text("RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 hour")
    given = ("run", "many.sase", "--input", "many.csv", "--numeric", "exact")
    (row,) = map(json.loads, hamlet(*given, "--format", "json").stdout.splitlines())
    assert row["n"] == str(2**200 - 1)
    assert "1.60693…e+60" in hamlet(*given).stdout


def test_beyond_a_double_the_table_shows_the_magnitude(hamlet, folder: Path):
    rows = "".join(f"{second},A\n" for second in range(2000))
    (folder / "many.csv").write_text("time,type\n" + rows)
    (folder / "many.sase").write_text("RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 hour")
    shown = hamlet("run", "many.sase", "--input", "many.csv").stdout
    assert "1.14813e+602" in shown  # 2**2000
    assert "log2" not in shown


def test_tables_show_the_first_rows(hamlet, folder: Path):
    rows = "".join(f"{minute * 60},A\n" for minute in range(50))
    (folder / "many.csv").write_text("time,type\n" + rows)
    (folder / "many.sase").write_text("RETURN COUNT(*) AS n PATTERN A WITHIN 1 minute")
    first = hamlet("run", "many.sase", "--input", "many.csv").stdout
    assert first.splitlines()[0] == "q1  50 rows"
    assert first.splitlines()[-1] == "... 30 more rows; --limit 0 shows all"
    assert len(first.splitlines()) == 3 + 20 + 1
    every = hamlet("run", "many.sase", "--input", "many.csv", "--limit", "0").stdout
    assert len(every.splitlines()) == 3 + 50


def test_a_query_without_results_is_shown(hamlet, folder: Path):
    (folder / "none.csv").write_text("time,type,speed\n1,Request,1\n")
    assert hamlet("run", "ride.sase", "--input", "none.csv").stdout == "ride  0 rows\n"


def test_text_of_the_input_does_not_steer_the_terminal(hamlet, folder: Path):
    (folder / "odd.csv").write_text('time,type,who\n1,A,"x\x1b[31m\ny"\n2,\x1b[2J,z\n')
    (folder / "odd.sase").write_text("RETURN COUNT(*) PATTERN SEQ(A, B?) GROUP-BY who WITHIN 1 min")
    done = hamlet("run", "odd.sase", "--input", "odd.csv?multiline=true")
    assert r"x\x1b[31m\ny" in done.stdout
    assert r"`\x1b[2J`" in done.stderr
    assert "\x1b" not in done.output


# ---- results in a folder -------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_output_folder(hamlet, folder: Path, suffix: str):
    format_ = {"jsonl": "json"}.get(suffix, suffix)
    given = ("--output", "results", "--format", format_)
    done = hamlet("run", "ride.sase", "--input", "ride.csv", *given)
    assert done.exit_code == 0
    assert done.stdout == ""
    assert "ride  1 row" in done.stderr
    there = sorted(path.name for path in (folder / "results").iterdir())
    assert there == ["_run.jsonl", f"ride.{suffix}"]


def test_output_is_parquet_if_not_told(hamlet, folder: Path):
    hamlet("run", "ride.sase", "--input", "ride.csv", "--output", "results")
    assert pq.read_table(folder / "results" / "ride.parquet").to_pylist() == [ROW]


def test_a_query_without_results_has_a_file_with_its_columns(hamlet, folder: Path):
    (folder / "none.csv").write_text("time,type,speed\n1,Request,1\n")
    hamlet("run", "ride.sase", "--input", "none.csv", "--output", "results")
    table = pq.read_table(folder / "results" / "ride.parquet")
    assert table.num_rows == 0
    assert table.schema.names == ["window_start", "window_end", "n", "total"]


def test_bad_rows_are_kept_and_counted(hamlet, folder: Path):
    (folder / "bad.csv").write_text((folder / "ride.csv").read_text() + "x,Travel,1\n5,,1\n")
    done = hamlet(
        "run", "ride.sase", "--input", "bad.csv", "--output", "results", "--format", "json"
    )
    assert done.exit_code == 0
    assert "2 rows could not be used, in results/_dead_letter" in done.stderr
    assert "1  the type is null" in done.stderr
    (path,) = (folder / "results" / "_dead_letter").iterdir()
    dead = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["row"], row["reason"]) for row in dead] == [
        (4, "the time is not valid"),
        (5, "the type is null"),
    ]


def test_table_is_not_for_a_folder(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--output", "o", "--format", "table")
    assert done.exit_code == 1
    assert "parquet, csv or json" in done.stderr


# ---- what is said beside the results -------------------------------------------------------


def test_summary_is_on_standard_error(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv")
    assert "4 events in " in done.stderr
    assert "events/s" in done.stderr
    assert "events/s" not in done.stdout


def test_summary_tells_events_from_rows_and_files(hamlet, folder: Path):
    (folder / "parts").mkdir()
    (folder / "parts" / "bad.csv").write_text((folder / "ride.csv").read_text() + "x,A,1\n5,,1\n")
    (folder / "parts" / "bad.parquet").write_bytes(b"PAR1")
    said = hamlet("run", "ride.sase", "--input", "parts").stderr
    assert "4 events of 6 rows in " in said
    assert "warning: 2 rows could not be used and 1 file could not be read to the end;" in said


@pytest.mark.parametrize(("reasons", "last"), [(6, "fields: 9, not 3"), (7, "for 2 other reasons")])
def test_the_last_reason_is_shown_if_it_is_one(hamlet, folder: Path, reasons: int, last: str):
    rows = "".join("1" + "," * (3 + n) + "\n" for n in range(reasons))
    (folder / "bad.csv").write_text((folder / "ride.csv").read_text() + rows)
    said = hamlet("run", "ride.sase", "--input", "bad.csv").stderr
    assert said.rstrip().endswith(last)


def test_quiet(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--quiet")
    assert done.stderr == ""
    assert done.stdout.startswith("ride")


def test_null_keys_are_pointed_out(hamlet, folder: Path):
    (folder / "keys.csv").write_text("time,type,who\n1,A,x\n2,A,\n3,A,\n")
    (folder / "keys.sase").write_text("RETURN COUNT(*) PATTERN A WHERE [who] WITHIN 1 minute")
    said = hamlet("run", "keys.sase", "--input", "keys.csv").stderr
    assert "2 events have no `who`" in said
    assert "usually an error" in said


def test_a_type_that_never_comes_is_pointed_out(hamlet, folder: Path):
    (folder / "typo.csv").write_text("time,type,speed\n1,Request,1\n2,Travl,1\n3,Dropoff,1\n")
    said = hamlet("run", "ride.sase", "--input", "typo.csv").stderr
    assert "no event has the type `Travel` of ride; did you mean `Travl`?" in said


def test_times_that_are_cut_are_pointed_out(hamlet, folder: Path):
    times = pa.array([1_000, 2_001], pa.timestamp("ns"))
    pq.write_table(pa.table({"time": times, "type": ["A", "A"]}), folder / "fine.parquet")
    (folder / "fine.sase").write_text("RETURN COUNT(*) PATTERN A WITHIN 1 minute")
    said = hamlet("run", "fine.sase", "--input", "fine.parquet").stderr
    assert "1 time was cut to whole microseconds" in said


# ---- inputs --------------------------------------------------------------------------------


def test_standard_input(hamlet, folder: Path):
    events = (folder / "ride.csv").read_bytes()
    done = hamlet("run", "ride.sase", "--input", "-", "--format", "json", stdin=events)
    assert json.loads(done.stdout)["n"] == 3


def test_folder_of_files(hamlet, folder: Path):
    lines = (folder / "ride.csv").read_text().splitlines()
    (folder / "parts").mkdir()
    (folder / "parts" / "1.csv").write_text("\n".join([lines[0], *lines[3:]]))
    (folder / "parts" / "2.csv").write_text("\n".join(lines[:3]))
    (folder / "parts" / "readme.txt").write_text("no data")
    done = hamlet("run", "ride.sase", "--input", "parts", "--format", "json")
    assert json.loads(done.stdout)["n"] == 3
    assert "readme.txt" in done.stderr


def test_other_columns_and_units(hamlet, folder: Path):
    (folder / "other.csv").write_text(
        "at,what,speed\n1000,Request,\n2000,Travel,1\n3000,Dropoff,\n"
    )
    given = ("--time-column", "at", "--type-column", "what", "--time-unit", "ms")
    done = hamlet("run", "ride.sase", "--input", "other.csv", *given, "--format", "json")
    assert json.loads(done.stdout)["window_end"] == 600_000


def test_format_where_the_name_does_not_tell(hamlet, folder: Path):
    (folder / "ride.csv").rename(folder / "ride.data")
    done = hamlet("run", "ride.sase", "--input", "ride.data", "--input-format", "csv")
    assert done.exit_code == 0
    assert "ride  1 row" in done.stdout


def test_ties_by_arrival(hamlet, folder: Path):
    (folder / "ties.csv").write_text("time,type\n1,A\n1,B\n")
    (folder / "ties.sase").write_text("RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 1 minute")
    given = ("run", "ties.sase", "--input", "ties.csv", "--format", "json")
    assert hamlet(*given).stdout == ""
    assert json.loads(hamlet(*given, "--ties", "arrival").stdout)["n"] == 1


def test_generated_stream(hamlet, folder: Path):
    (folder / "stock.sase").write_text(
        "RETURN COUNT(*) AS n PATTERN Stock S+ WHERE [company] WITHIN 1 minute SLIDE 30 seconds"
    )
    given = ("run", "stock.sase", "--input", "generate:stock?events=500&seed=3", "--format", "json")
    done = hamlet(*given)
    assert done.exit_code == 0
    assert done.stdout == hamlet(*given).stdout
    assert "500 events" in done.stderr


def test_out_of_order_input_is_put_in_order(hamlet, folder: Path):
    lines = (folder / "ride.csv").read_text().splitlines()
    (folder / "shuffled.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))
    done = hamlet("run", "ride.sase", "--input", "shuffled.csv", "--format", "json")
    assert json.loads(done.stdout)["n"] == 3


def test_pieces_never_cut_equal_times(hamlet, folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Windows close at the last time of a piece; what else has that time must be in it."""
    monkeypatch.setattr("hamlet.local_runner.PIECE_ROWS", 2)
    (folder / "same.csv").write_text("time,type\n" + "1,A\n" * 5 + "2,B\n" * 5)
    (folder / "same.sase").write_text("RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 1 minute")
    done = hamlet("run", "same.sase", "--input", "same.csv", "--format", "json")
    assert json.loads(done.stdout)["n"] == 25


# ---- errors --------------------------------------------------------------------------------

ERRORS = [
    (("run", "none.sase", "--input", "ride.csv"), "there is no query file none.sase"),
    (("run", "ride.sase", "--input", "none.csv"), "cannot read none.csv"),
    (("run", "ride.sase"), "Missing option '--input'"),
    (("run", "ride.sase", "--input", "ride.csv", "--numeric", "big"), "'float', 'exact'"),
    (("run", "ride.sase", "--input", "ride.csv", "--time-column", "t"), "no column `t`"),
    (("run", "ride.sase", "--input", "ride.csv", "--output", "ride.csv"), "need a folder"),
    (("run", "ride.sase", "--input", "generate:stok"), "did you mean `stock`?"),
    (("run", "ride.sase", "--input", "generate:stock?evnts=3"), "did you mean `events`?"),
]


@pytest.mark.parametrize(("arguments", "said"), ERRORS)
def test_errors_are_told_without_a_traceback(hamlet, arguments: tuple[str, ...], said: str):
    done = hamlet(*arguments)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_columns_are_checked_before_rows_are_read(hamlet, folder: Path):
    (folder / "typo.csv").write_text("time,type,sped\nx,y,z\n")
    done = hamlet("run", "ride.sase", "--input", "typo.csv")
    assert done.exit_code == 1
    assert "ride.sase:2:29: error: the input has no attribute `speed`" in done.stderr
    assert "did you mean `sped`?" in done.stderr


RIDE = {"time": [1, 2, 3], "type": ["Request", "Travel", "Dropoff"], "speed": [None, 2.0, None]}


def write_doubled(path: Path, name: str) -> None:
    """A file of which two columns have this name."""
    table = pa.table([*RIDE.values(), [1, 2, 3], [4, 5, 6]], names=[*RIDE, name, "other"])
    table = table if name in RIDE else table.rename_columns([*RIDE, name, name])
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        pa_csv.write_csv(table, path)
    else:
        kind = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with kind(path, table.schema) as file:
            file.write_table(table)


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("name", ["d.parquet", "d.arrow", "d.ipc", "d.csv"])
def test_two_columns_of_one_name(hamlet, folder: Path, name: str, used: bool):
    column = "speed" if used else "v"
    write_doubled(folder / name, column)
    for given in (("run", "ride.sase", "--input"), ("check", "ride.sase", "--schema")):
        done = hamlet(*given, name)
        assert done.exit_code == 1
        assert f"error: {name} has more than one column `{column}`\n" in done.stderr


@pytest.mark.parametrize("name", ["d.parquet", "d.arrow", "d.ipc", "d.csv"])
def test_two_columns_of_one_name_in_a_folder(hamlet, folder: Path, name: str):
    (folder / "parts").mkdir()
    (folder / "ride.csv").rename(folder / "parts" / "good.csv")
    write_doubled(folder / "parts" / name, "speed")
    given = ("run", "ride.sase", "--input", "parts", "--output", "results", "--format", "json")
    done = hamlet(*given)
    assert done.exit_code == 0
    assert json.loads((folder / "results" / "ride.jsonl").read_text())["n"] == 3
    assert "4 events in " in done.stderr
    assert "1 file could not be read to the end, in results/_dead_letter\n" in done.stderr
    (path,) = (folder / "results" / "_dead_letter").iterdir()
    (dead,) = map(json.loads, path.read_text().splitlines())
    assert dead["row"] is None
    assert dead["reason"] == f"parts/{name} has more than one column `speed`"


def test_a_json_key_that_stands_twice_is_a_dead_row(hamlet, folder: Path):
    rows = [{**dict(zip(RIDE, row, strict=True))} for row in zip(*RIDE.values(), strict=True)]
    lines = [json.dumps(row) for row in rows]
    lines.append('{"time": 2, "type": "Travel", "speed": 5, "speed": 6}')
    (folder / "d.jsonl").write_text("\n".join(lines))
    done = hamlet("run", "ride.sase", "--input", "d.jsonl", "--format", "json")
    assert json.loads(done.stdout)["n"] == 1
    assert "3 events of 4 rows in " in done.stderr
    assert "1  malformed JSON: more than one `speed`" in done.stderr


def test_schema_is_checked_before_the_input_is_opened(hamlet, folder: Path):
    (folder / "types.yaml").write_text("Request: []\nTravel: {speed: text}\nDropoff: []\n")
    done = hamlet("run", "ride.sase", "--input", "none.csv", "--schema", "types.yaml")
    assert done.exit_code == 1
    assert "`speed` is text, but a number is needed here" in done.stderr


def test_nothing_is_left_of_a_run_that_failed(hamlet, folder: Path):
    (folder / "gone.csv").write_text("time,kind\n1,A\n")
    done = hamlet("run", "ride.sase", "--input", "gone.csv", "--output", "results")
    assert done.exit_code == 1
    assert not (folder / "results").exists()


# ---- sharing -------------------------------------------------------------------------------

TWO = """QUERY one RETURN COUNT(*) AS n PATTERN SEQ(Request, Travel+) WITHIN 10 minutes
QUERY two RETURN COUNT(*) AS n PATTERN SEQ(Travel+, Dropoff) WITHIN 10 minutes
"""


@pytest.mark.parametrize("sharing", ["dynamic", "always", "never"])
def test_sharing_does_not_change_results(hamlet, folder: Path, sharing: str):
    (folder / "two.sase").write_text(TWO)
    given = ("run", "two.sase", "--input", "ride.csv", "--format", "json")
    assert hamlet(*given, "--sharing", sharing).stdout == hamlet(*given).stdout


def test_decisions_are_told_beside_the_results(hamlet, folder: Path):
    (folder / "two.sase").write_text(TWO)
    given = ("run", "two.sase", "--input", "ride.csv", "--format", "json")
    done = hamlet(*given, "--explain-sharing")
    assert done.exit_code == 0
    assert done.stdout == hamlet(*given).stdout
    assert "share group 1 of 1" in done.stderr
    assert "Travel" in done.stderr


def test_decisions_of_a_query_that_cannot_share(hamlet, folder: Path):
    (folder / "next.sase").write_text(
        "RETURN COUNT(*) PATTERN Travel+ SEMANTICS contiguous WITHIN 10 minutes"
    )
    done = hamlet("run", "next.sase", "--input", "ride.csv", "--explain-sharing")
    assert "nothing to decide" in done.stderr


@pytest.mark.parametrize("option", [("--sharing", "always"), ("--explain-sharing",)])
def test_exact_numbers_are_not_shared(hamlet, option: tuple[str, ...]):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--numeric", "exact", *option)
    assert done.exit_code == 1
    assert f"{option[0]} is for --numeric float" in done.stderr
    assert "every query" in done.stderr


def test_a_wrong_sharing_is_answered_with_the_choices(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--sharing", "maybe")
    assert done.exit_code == 1
    assert "dynamic" in done.stderr
    assert "never" in done.stderr


def test_watching_is_for_streams(hamlet):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--watch-workload")
    assert done.exit_code == 1
    assert "--watch-workload is for --follow" in done.stderr


def test_the_help_groups_what_queries_share(hamlet):
    """A panel for each group of options: ties change results, sharing does not."""
    _, _, after = hamlet("run", "--help").stdout.partition(" Results ")
    results, _, after = after.partition(" Sharing ")
    sharing, _, _ = after.partition(" Runtime ")
    assert "--ties" in results
    assert all(option in sharing for option in ("--sharing", "--plan ", "--planner"))
