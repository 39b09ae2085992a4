"""`hamlet generate`: streams to files and pipes, in every format."""

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runtime.generate import generate, schema, streams
from runtime.io.read import open_input

WANTED = pa.Table.from_batches(generate("stock", events=200, seed=7), schema=schema("stock"))
GIVEN = ("generate", "stock", "--events", "200", "--seed", "7")


@pytest.mark.parametrize("name", ["s.parquet", "s.arrow", "s.csv", "s.jsonl"])
def test_files_can_be_read_again(hamlet, folder: Path, name: str):
    done = hamlet(*GIVEN, "--output", name)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "200 events written to s" in done.stderr
    with open_input(folder / name) as source:
        read = pa.Table.from_batches([block.batch for block in source])
    assert read.num_rows == 200
    assert read["company"].to_pylist() == WANTED["company"].to_pylist()
    assert read["price"].to_pylist() == WANTED["price"].to_pylist()


def test_typed_formats_hold_the_very_same(hamlet, folder: Path):
    hamlet(*GIVEN, "--output", "s.parquet")
    # Parquet knows no whole seconds, and keeps them as milliseconds.
    assert pq.read_table(folder / "s.parquet").cast(WANTED.schema).equals(WANTED)
    streamed = pa.ipc.open_stream(hamlet(*GIVEN, "--format", "arrow").stdout_bytes).read_all()
    assert streamed.equals(WANTED)


def test_csv_in_a_pipe(hamlet):
    rows = list(csv.DictReader(io.StringIO(hamlet(*GIVEN).stdout)))
    assert len(rows) == 200
    assert list(rows[0]) == WANTED.schema.names


def test_json_in_a_pipe(hamlet):
    lines = hamlet(*GIVEN, "--format", "json").stdout.splitlines()
    assert [json.loads(line)["volume"] for line in lines] == WANTED["volume"].to_pylist()


def test_parameters(hamlet):
    given = ("generate", "ridesharing", "--events", "4000", "--groups", "5", "--burst", "20")
    more = ("--rate", "60", "--share", "Travel=0.6", "--share", "Pickup=0.1")
    when = ("--start", "2026-03-01T12:00:00Z")
    rows = list(csv.DictReader(io.StringIO(hamlet(*given, *more, *when).stdout)))
    types = Counter(row["type"] for row in rows)
    assert 0.5 < types["Travel"] / len(rows) < 0.7
    assert rows[0]["time"].startswith("2026-03-01 12:0")


def test_shares_with_commas(hamlet):
    one = hamlet(*GIVEN[:1], "taxi", "--share", "Travel=0.5,Pickup=0.2").stdout
    two = hamlet(*GIVEN[:1], "taxi", "--share", "Travel=0.5", "--share", "Pickup=0.2").stdout
    assert one == two


def test_list(hamlet):
    shown = hamlet("generate", "--list").stdout
    for name, info in streams().items():
        assert name in shown
        assert info.description in shown


ERRORS = [
    (("generate",), "which stream?"),
    (("generate", "stok"), "did you mean `stock`?"),
    (("generate", "stock", "--output", "s.xyz"), "does not show the format"),
    (("generate", "stock", "--share", "Stock"), "expected TYPE=PART"),
    (("generate", "stock", "--share", "Stock=x"), "expected TYPE=PART"),
    (("generate", "taxi", "--share", "Travl=0.5"), "did you mean `Travel`?"),
    (("generate", "taxi", "--share", "Travel=0.5,Travel=0.1"), "names `Travel` twice"),
    (("generate", "stock", "--rate", "0"), "`rate` is 0"),
    (("generate", "stock", "--events", "-1"), "--events"),
    (("generate", "stock", "--output", "ride.csv/s.csv"), "cannot write ride.csv/s.csv"),
]


@pytest.mark.parametrize(("arguments", "said"), ERRORS)
def test_errors(hamlet, arguments: tuple[str, ...], said: str):
    done = hamlet(*arguments)
    assert done.exit_code == 1
    assert said in done.stderr


def test_a_file_appears_only_when_it_is_whole(hamlet, folder: Path, monkeypatch):
    def failing(*_: object, **__: object):
        yield from generate("stock", events=10)
        raise RuntimeError("half way")

    monkeypatch.setattr("runtime.generate.generate", failing)
    before = sorted(folder.iterdir())
    assert hamlet("generate", "stock", "--output", "s.csv").exit_code == 2
    assert sorted(folder.iterdir()) == before
