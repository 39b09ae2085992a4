"""A stream in files, one for each epoch, and all that a job writes of it, as rows.

Neighbouring files have different columns, so that no two of them are read together: the borders
of epochs are the same in every run, and with them what is late.
"""

import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

FILES = 40
ROWS = 1_500
SECONDS = 10  # of the stream, in each file
LATENESS = "3s"
LATENESS_MICROS = 3_000_000
# Far enough ahead to close every window.
END = 3_600

KEPT = """
QUERY rises
RETURN district, COUNT(*) AS trends, SUM(B.value) AS total
PATTERN SEQ(A, B+)
WHERE [driver]
GROUP-BY district
WITHIN 30 seconds SLIDE 10 seconds

QUERY ends
RETURN district, COUNT(*) AS trends, MAX(B.value) AS most, AVG(B.value) AS mean
PATTERN SEQ(A, B+, C)
WHERE [driver]
GROUP-BY district
WITHIN 25 seconds SLIDE 5 seconds
"""
BY_DISTRICT = """
QUERY by_district
RETURN district, COUNT(*) AS trends
PATTERN SEQ(C, A+)
WHERE [district] AND A.value > 90
GROUP-BY district
WITHIN 20 seconds
"""
LONE = """
QUERY lone
RETURN driver, COUNT(*) AS trends
PATTERN SEQ(A, NOT B, C)
WHERE [driver]
GROUP-BY driver
WITHIN 20 seconds
"""
WORKLOAD = KEPT + BY_DISTRICT + LONE


def table(number: int, rows: int = ROWS, width: int = 0, seed: int = 0) -> pa.Table:
    """The rows of one file: most of them about in order, some late, some no events at all. Names
    of drivers are at least so wide."""
    chance = random.Random(seed * 1_000_003 + number)
    first = number * SECONDS * 1000
    times: list[int | None] = [
        first + row * SECONDS * 1000 // rows - chance.randrange(2_000) for row in range(rows)
    ]
    types: list[str | None] = chance.choices("ABCX", (30, 50, 15, 5), k=rows)
    for row in chance.sample(range(rows), rows // 100):
        times[row] = first - 20_000 - chance.randrange(10_000)
    for row in chance.sample(range(rows), rows // 150):
        times[row] = None
    for row in chance.sample(range(rows), rows // 150):
        types[row] = None
    drivers = [f"d{chance.randrange(400)}" for _ in range(rows)]
    columns = {
        "time": pa.array(times, pa.int64()),
        "type": pa.array(types, pa.string()),
        "driver": pa.array([driver.ljust(width, ".") for driver in drivers]),
        "district": pa.array([f"n{hash_of(driver) % 7}" for driver in drivers]),
        "value": pa.array([float(chance.randrange(100)) for _ in range(rows)]),
    }
    if number % 2:
        columns["note"] = pa.array(["odd"] * rows)
    return pa.table(columns)


def end(number: int) -> pa.Table:
    """One event that nobody asks for, long after all others."""
    return table(number, 1).set_column(0, "time", pa.array([(number * SECONDS + END) * 1000]))


def hash_of(name: str) -> int:
    return sum(map(ord, name)) * 31 + len(name)


def tables(files: int = FILES, rows: int = ROWS, width: int = 0) -> list[pa.Table]:
    return [*(table(number, rows, width) for number in range(files - 1)), end(files - 1)]


def put(folder: Path, number: int, content: pa.Table) -> None:
    """A file appears whole."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = folder / f".{number:05d}"
    pq.write_table(content, waiting)
    waiting.rename(folder / f"{number:05d}.parquet")


def written(output: Path) -> dict[str, Counter[tuple[object, ...]]]:
    """All rows of each folder of an output, and how often each is there."""
    found: dict[str, Counter[tuple[object, ...]]] = {}
    for part in sorted(output.glob("*/part-*.parquet")):
        rows = pq.read_table(part).to_pylist()
        counted = found.setdefault(part.parent.name, Counter())
        counted.update(map(_row, rows))
    return found


def _row(row: dict[str, object]) -> tuple[object, ...]:
    """A dead letter names its file, which lies in another folder in every run."""
    if "source" in row:
        row["source"] = Path(str(row["source"])).name
    return tuple(row.items())
