"""Stores measurements as Parquet: one row per system and point, with machine and versions."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._rivals.measure import Effort
from benchmarks._rivals.systems import RIVALS
from runtime.errors import HamletError

FILE = "rivals.parquet"
_KEY = b"hamlet.rivals"
_SCHEMA = pa.schema(
    [
        ("case", pa.string()),
        ("size", pa.int64()),
        ("events", pa.int64()),
        ("queries", pa.int64()),
        ("system", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("seconds", pa.list_(pa.float64())),
        ("cpu_seconds", pa.list_(pa.float64())),
        ("peak_bytes", pa.int64()),
        ("started_bytes", pa.int64()),
    ]
)


def write(rows: Iterable[dict[str, Any]], effort: Effort, quick: bool, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {rival.name: rival.version for rival in RIVALS.values()},
        "effort": asdict(effort),
        "quick": quick,
    }
    schema = _SCHEMA.with_metadata({_KEY: json.dumps(about).encode()})
    path = folder / FILE
    pq.write_table(pa.Table.from_pylist(list(rows), schema), path)
    return path


def read(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows, and how they came about."""
    path = folder / FILE
    if not path.is_file():
        raise HamletError(f"there is no {path}", "`hamlet bench rivals` measures it")
    table = pq.read_table(path)
    return table.to_pylist(), json.loads(table.schema.metadata[_KEY])
