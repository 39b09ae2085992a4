"""`hamlet check`: every error, with its place."""

from pathlib import Path


def test_no_error(hamlet):
    done = hamlet("check", "ride.sase")
    assert done.exit_code == 0
    assert "SEQ(Request R, Travel T+, Dropoff D)" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 query, no errors"


def test_all_errors_of_a_file(hamlet, folder: Path):
    (folder / "bad.sase").write_text(
        "QUERY a RETURN COUNT(X) PATTERN A WITHIN 1 s\n"
        "QUERY b RETURN COUNT(*) PATTERN SEQ(A, WITHIN 1 s\n"
        "QUERY c RETURN COUNT(*) PATTERN A WITHIN 1 s SLIDE 2 s\n"
    )
    done = hamlet("check", "bad.sase")
    assert done.exit_code == 1
    assert done.stdout == ""
    places = [line.split(" error")[0] for line in done.stderr.splitlines() if "error:" in line]
    assert places == ["bad.sase:1:22:", "bad.sase:2:39:", "bad.sase:3:52:"]
    assert "       ^^^" in done.stderr
    assert done.stderr.splitlines()[-1] == "3 errors"


def test_schema_from_yaml(hamlet, folder: Path):
    schema = folder / "types.yaml"
    schema.write_text("Request: []\nTravel: {speed: int}\nDropoff: []\n")
    assert hamlet("check", "ride.sase", "--schema", "types.yaml").exit_code == 0
    schema.write_text("Request: []\nTravel: {sped: int}\nDropof: []\n")
    done = hamlet("check", "ride.sase", "--schema", "types.yaml")
    assert done.exit_code == 1
    assert "no event type `Dropoff`" in done.stderr
    assert "did you mean `sped`?" in done.stderr


def test_schema_from_data(hamlet):
    """In a CSV, whether a column is a number is left open until it is used."""
    assert hamlet("check", "ride.sase", "--schema", "ride.csv").exit_code == 0


def test_schema_that_is_none(hamlet, folder: Path):
    done = hamlet("check", "ride.sase", "--schema", "none.yaml")
    assert done.exit_code == 1
    assert "cannot read none.yaml" in done.stderr


def test_missing_file_names_those_there_are(hamlet):
    done = hamlet("check", "rides.sase")
    assert done.exit_code == 1
    assert done.stderr == "error: there is no query file rides.sase\nhint: there is ride.sase\n"


def test_folder_instead_of_a_file(hamlet, folder: Path):
    done = hamlet("check", str(folder))
    assert done.exit_code == 1
    assert "Is a directory" in done.stderr


def test_text_that_is_no_utf8(hamlet, folder: Path):
    (folder / "latin.sase").write_bytes("-- caf\u00e9\nRETURN COUNT(*)".encode("latin-1"))
    done = hamlet("check", "latin.sase")
    assert done.exit_code == 1
    assert "latin.sase is not UTF-8 text: byte 7, in line 1" in done.stderr


def test_byte_order_mark_and_windows_lines(hamlet, folder: Path):
    text = (folder / "ride.sase").read_text().replace("\n", "\r\n")
    (folder / "windows.sase").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert hamlet("check", "windows.sase").exit_code == 0


def test_empty_file(hamlet, folder: Path):
    (folder / "empty.sase").write_text("-- nothing yet\n")
    done = hamlet("check", "empty.sase")
    assert done.exit_code == 1
    assert "there is no query here" in done.stderr


def test_quiet(hamlet):
    done = hamlet("check", "ride.sase", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
