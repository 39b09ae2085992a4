"""Streams and queries for the tests that compare a job with an engine in process."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from runtime.language.parser import parse
from runtime.pipeline.dead_letter import rows_as_json

#: Four ways of routing: by driver, by driver and zone, by zone, and all events together. The rows
#: of `by_zone` are sums over drivers, who lie in different shards.
RIDES = parse("""
QUERY by_driver
RETURN driver, COUNT(*) AS n, SUM(T.speed) AS s, AVG(T.speed) AS a, MIN(T.speed) AS low, MAX(T.speed) AS high
PATTERN SEQ(Request R, Travel T+)
GROUP-BY driver
WITHIN 60 seconds SLIDE 20 seconds

QUERY done
RETURN driver, COUNT(*) AS n
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WHERE T.speed > 10
GROUP-BY driver
WITHIN 60 seconds SLIDE 20 seconds

QUERY by_zone
RETURN zone, COUNT(*) AS n, SUM(T.speed) AS s, MAX(T.speed) AS high
PATTERN SEQ(Request R, Travel T+)
WHERE [driver]
GROUP-BY zone
HAVING COUNT(*) > 1
WITHIN 45 seconds

QUERY rising
RETURN zone, COUNT(*) AS n
PATTERN Travel T+
WHERE T.speed < NEXT(T).speed
GROUP-BY zone
WITHIN 30 seconds

QUERY kept
RETURN COUNT(*) AS n
PATTERN SEQ(Request R, NOT Cancel C, Dropoff D)
WITHIN 20 seconds
""")  # noqa: E501
TYPES = ("Request", "Travel", "Travel", "Travel", "Dropoff", "Cancel", "Idle")


def rides(rows: int, seed: int, *, start: int = 0, step: float = 0.5) -> pa.Table:
    """Times are seconds, several events share one; `Idle` is a type that no query names."""
    draw = np.random.default_rng(seed)
    times = start + np.floor(np.arange(rows) * step).astype(np.int64)
    drivers = draw.integers(0, 9, rows)
    return pa.table(
        {
            "time": times,
            "type": [TYPES[n] for n in draw.integers(0, len(TYPES), rows)],
            "driver": pa.array([f"driver {n}" for n in drivers], mask=drivers == 0),
            "zone": pa.array(draw.integers(0, 4, rows), mask=draw.random(rows) < 0.05),
            "speed": pa.array(draw.integers(0, 60, rows) / 2.0, mask=draw.random(rows) < 0.05),
        }
    )


def shuffled(table: pa.Table, seed: int, reach: int | None = None) -> pa.Table:
    """In another order; with `reach`, no row lies further from its place than that."""
    draw = np.random.default_rng(seed)
    rows = table.num_rows
    keys = draw.random(rows) * (rows if reach is None else reach) + (
        0 if reach is None else np.arange(rows)
    )
    return table.take(pa.array(np.argsort(keys, kind="stable")))


def pieces(table: pa.Table, count: int) -> list[pa.Table]:
    step = -(-table.num_rows // count)
    return [table.slice(first, step) for first in range(0, table.num_rows, step)]


# ---- files ---------------------------------------------------------------------------------


def write_parquet(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, row_group_size=max(1, table.num_rows // 3))


def write_json(table: pa.Table, path: Path) -> None:
    path.write_text("".join(f"{row}\n" for row in rows_as_json(table)))


def write_csv(table: pa.Table, path: Path) -> None:
    pa_csv.write_csv(table, path)


def write_json_gz(table: pa.Table, path: Path) -> None:
    with gzip.open(path, "wt") as file:
        file.writelines(f"{row}\n" for row in rows_as_json(table))


def write_csv_gz(table: pa.Table, path: Path) -> None:
    text = io.BytesIO()
    pa_csv.write_csv(table, text)
    path.write_bytes(gzip.compress(text.getvalue()))


FORMATS: dict[str, Callable[[pa.Table, Path], None]] = {
    "parquet": write_parquet,
    "jsonl": write_json,
    "csv": write_csv,
    "jsonl.gz": write_json_gz,
    "csv.gz": write_csv_gz,
}
