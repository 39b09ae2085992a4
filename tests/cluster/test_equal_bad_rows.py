"""Random files with bad rows in every format: both engines find the same events, reasons, row
numbers and results."""

import csv
import gzip
import io
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest

from cluster.jobs import Asked, assert_same, locally, on_cluster
from cluster.streams import RIDES, rides, write_parquet

FILES = 25
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


def rows(chance: random.Random) -> list[dict[str, object]]:
    start = chance.randrange(100)
    table = rides(chance.randrange(5, 40), seed=chance.randrange(10**6), start=start)
    found: list[dict[str, object]] = table.to_pylist()
    return found


def csv_file(chance: random.Random) -> bytes:
    text = io.StringIO()
    found = rows(chance)
    writer = csv.DictWriter(text, list(found[0]), lineterminator=chance.choice(["\n", "\r\n"]))
    writer.writeheader()
    for row in found:
        if chance.random() < 0.2:
            row[chance.choice(list(row))] = chance.choice(TEXTS)
        writer.writerow(row)
    return mutated(text.getvalue().encode(), chance)


def json_file(chance: random.Random) -> bytes:
    lines = []
    for row in rows(chance):
        if chance.random() < 0.2:
            row[chance.choice(list(row))] = chance.choice(VALUES)
        lines.append(json.dumps(row))
    return mutated("\n".join(lines).encode() + b"\n", chance)


def parquet_table(chance: random.Random) -> pa.Table:
    table = pa.Table.from_pylist(rows(chance))
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
    for number in range(FILES):
        kind = chance.choice(["csv", "csv.gz", "jsonl", "jsonl.gz", "parquet"])
        path = folder / f"{number:03d}.{kind}"
        if kind == "parquet":
            write_parquet(parquet_table(chance), path)
            continue
        data = csv_file(chance) if kind.startswith("csv") else json_file(chance)
        path.write_bytes(gzip.compress(data, mtime=0) if kind.endswith(".gz") else data)


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 20))]
)
def test_equals_the_local_engine(spark, actor_pool, tmp_path: Path, seed: int):
    write_some(tmp_path / "rides", seed)
    asked = Asked(RIDES, tmp_path / "rides")
    wanted = locally(asked)
    assert wanted.dead.num_rows
    assert_same(on_cluster(spark, actor_pool(2), asked, tmp_path / "checkpoint"), wanted)
