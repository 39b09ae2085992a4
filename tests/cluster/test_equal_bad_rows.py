"""Random files with bad rows in every format: both engines find the same events, reasons, row
numbers and results. (Random records of Kafka are in `kafka/test_kafka_random.py`.)

A job reads a hundred files, since a job for each would take an hour. Files of one kind stand side
by side, so that Spark reads them in few epochs. The times of each file are its own, so its windows
are too: what comes out is compared file by file.
"""

import csv
import gzip
import io
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pytest

from cluster.jobs import (
    Found,
    JobInput,
    assert_same,
    assert_same_counts,
    assert_same_results,
    locally,
    on_cluster,
    to_the_end,
)
from cluster.streams import RIDES, rides, write_parquet
from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions

JOBS, FILES = 5, 100
KINDS = ["csv", "csv.gz", "jsonl", "jsonl.gz", "parquet"]
#: Seconds from one file to the next: no window has rows of two.
APART = 10_000
TEXTS = ["", "x", "1.5", "1e3", "-7", " 8 ", "0x1f", "true", "NaN", "inf", "1d", "9" * 20, "ä", '"']
VALUES = [None, True, "x", "12", 1.5, 2**70, float("nan"), float("inf"), [], {"a": 1}, "\u20ac"]
BYTES = [b"\xff", b'"', b",", b"{", b"}", b"\\", b"\x00", b" ", b"", b"\t", b"\xe2\x82"]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A few bytes after the first line are replaced."""
    start = data.index(b"\n") + 1
    for _ in range(chance.randrange(4)):
        at = chance.randrange(start, len(data))
        data = data[:at] + chance.choice(BYTES) + data[at + chance.randrange(3) :]
    return data


def rows(chance: random.Random, start: int) -> list[dict[str, object]]:
    table = rides(chance.randrange(5, 40), seed=chance.randrange(10**6), start=start)
    found: list[dict[str, object]] = table.to_pylist()
    return found


def csv_file(chance: random.Random, start: int) -> bytes:
    text = io.StringIO()
    found = rows(chance, start)
    writer = csv.DictWriter(text, list(found[0]), lineterminator=chance.choice(["\n", "\r\n"]))
    writer.writeheader()
    for row in found:
        if chance.random() < 0.2:
            row[chance.choice(list(row))] = chance.choice(TEXTS)
        writer.writerow(row)
    return mutated(text.getvalue().encode(), chance)


def json_file(chance: random.Random, start: int) -> bytes:
    lines = []
    for row in rows(chance, start):
        if chance.random() < 0.2:
            row[chance.choice(list(row))] = chance.choice(VALUES)
        lines.append(json.dumps(row))
    return mutated("\n".join(lines).encode() + b"\n", chance)


def parquet_table(chance: random.Random, start: int) -> pa.Table:
    table = pa.Table.from_pylist(rows(chance, start))
    bad = {
        "time": [None, 2**62, -(2**62)],
        "type": [None],
        "speed": [None, float("nan"), float("inf"), -float("inf")],
    }
    for name, values in bad.items():
        column = [
            chance.choice(values) if chance.random() < 0.1 else each
            for each in table[name].to_pylist()
        ]
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, pa.array(column, table[name].type))
    return table


def write_some(folder: Path, seed: int) -> None:
    folder.mkdir()
    chance = random.Random(seed)
    # Each kind is the first of some job, and the last of another one.
    places = {kind: (place + seed) % len(KINDS) for place, kind in enumerate(KINDS)}
    for number in range(FILES):
        kind = chance.choice(KINDS)
        path = folder / f"{places[kind]}-{number:03d}.{kind}"
        start = number * APART + chance.randrange(100)
        if kind == "parquet":
            write_parquet(parquet_table(chance, start), path)
            continue
        make = csv_file if kind.startswith("csv") else json_file
        data = make(chance, start)
        path.write_bytes(gzip.compress(data, mtime=0) if kind.endswith(".gz") else data)


def by_file(found: Found) -> dict[str, list[object]]:
    """The dead letters of each file, and the result rows of its windows."""
    parts: dict[str, list[object]] = defaultdict(list)
    for letter in found.letters():
        parts[letter["source"]].append(letter)
    for name, table in found.tables.items():
        for row in table.to_pylist():
            parts[f"times from {row['window_start'] // APART * APART} s"].append((name, row))
    return dict(parts)


@pytest.mark.parametrize("seed", range(JOBS))
def test_equals_the_local_engine(spark, actor_pool, tmp_path: Path, seed: int):
    write_some(tmp_path / "rides", seed)
    asked = JobInput(RIDES, tmp_path / "rides")
    wanted = locally(asked)
    found = on_cluster(spark, actor_pool(2), asked, tmp_path / "checkpoint")
    expected, parts = by_file(wanted), by_file(found)
    assert sum(part.startswith("times") for part in expected) > FILES / 2, "few files have results"
    assert len(expected) > FILES, "few files have bad rows"
    for part in sorted(expected.keys() | parts.keys()):
        assert parts.get(part) == expected.get(part), part
    assert_same(found, wanted)


@pytest.mark.parametrize("format", ["orc", "avro"])
def test_a_format_of_spark_equals_the_local_engine(spark, actor_pool, tmp_path: Path, format: str):
    """The local engine reads neither, but the same rows as Parquet. Rows that Spark loads have no
    numbers, since Spark may read their files in any order."""
    chance = random.Random(format)
    folder = tmp_path / "rides"
    folder.mkdir()
    for number in range(FILES):
        start = number * APART + chance.randrange(100)
        write_parquet(parquet_table(chance, start), folder / f"{number:03d}.parquet")
    frame = spark.read.parquet(str(folder)).repartition(9)
    frame.write.format(format).save(str(tmp_path / format))
    asked = JobInput(RIDES, folder)
    wanted = locally(asked)
    input = resolve_input(InputOptions(f"spark:{format}?path={tmp_path / format}", asked.needs))
    source = input.open(spark, tmp_path, None, None)
    found = to_the_end(spark, actor_pool(2), asked, source, tmp_path / "checkpoint")
    assert letters(found) == letters(wanted)
    assert len({reason for reason, _ in letters(found)}) == 4
    assert found.dead["row"].null_count == found.dead.num_rows > FILES
    assert_same_counts(found, wanted)
    assert_same_results(found, wanted)


def letters(found: Found) -> Counter[tuple[str, str]]:
    """The reasons and the rows, whatever the order of their columns. A NaN is null, but the letters
    of a frame show it."""
    rows = (json.loads(letter["event"]) for letter in found.dead.to_pylist())
    plain = (
        {name: None if row[name] == "NaN" else row[name] for name in sorted(row)} for row in rows
    )
    return Counter(zip(found.dead["reason"].to_pylist(), map(json.dumps, plain), strict=True))
