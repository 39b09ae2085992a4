"""Stores measurements as rows of a Parquet file, with machine and versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._scaling.measure import Times
from runtime.errors import HamletError

FILE = "scaling.parquet"
PACKAGES = ("numba", "numpy", "pyarrow", "pyspark", "ray")
SCHEMA = pa.schema(
    [
        ("kind", pa.string()),  # sweep, part, job, size
        ("name", pa.string()),
        ("variant", pa.string()),
        ("at", pa.float64()),
        ("events", pa.int64()),
        ("wall", pa.list_(pa.float64())),  # seconds, of each repeat
        ("cpu", pa.list_(pa.float64())),
        ("value", pa.float64()),  # of what is no time
    ]
)


@dataclass(frozen=True)
class Row:
    kind: str
    name: str
    variant: str
    at: float
    events: int
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    value: float | None = None

    @property
    def ns(self) -> float:
        """Of wall time, for an event."""
        return median(self.wall) / self.events * 1e9

    @property
    def cpu_ns(self) -> float:
        return median(self.cpu) / self.events * 1e9

    @property
    def spread(self) -> tuple[float, float]:
        return min(self.wall) / self.events * 1e9, max(self.wall) / self.events * 1e9


def timed(kind: str, name: str, variant: str, at: float, events: int, times: Times) -> Row:
    return Row(kind, name, variant, float(at), events, times.wall, times.cpu)


def sized(name: str, variant: str, at: float, value: float) -> Row:
    return Row("size", name, variant, float(at), 0, value=float(value))


class Measured:
    """The rows, by what they are of."""

    def __init__(self, rows: Iterable[Row], about: dict[str, str]) -> None:
        self.rows = list(rows)
        self.about = about

    @property
    def quick(self) -> bool:
        return self.about["quick"] == str(True)

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, str], list[Row]]:
        found: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.kind, row.name, row.variant), []).append(row)
        return found

    def of(self, kind: str, name: str, variant: str = "") -> list[Row]:
        found = self._by_key.get((kind, name, variant))
        if not found:
            raise HamletError(
                f"{kind} `{name}` {variant} was not measured", "run `hamlet bench scaling`"
            )
        return sorted(found, key=lambda row: row.at)

    def one(self, kind: str, name: str, variant: str = "", at: float | None = None) -> Row:
        rows = [row for row in self.of(kind, name, variant) if at is None or row.at == at]
        if len(rows) != 1:
            raise HamletError(f"{kind} `{name}` {variant} has {len(rows)} rows, not one")
        return rows[0]

    def value(self, name: str, variant: str = "", at: float | None = None) -> float:
        value = self.one("size", name, variant, at).value
        assert value is not None
        return value

    def variants(self, kind: str, name: str) -> list[str]:
        return [key[2] for key in self._by_key if key[:2] == (kind, name)]


def write(measured: Measured, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    columns = {name: [getattr(row, name) for row in measured.rows] for name in SCHEMA.names}
    table = pa.table(columns, schema=SCHEMA.with_metadata(measured.about))
    pq.write_table(table, folder / FILE)
    return folder / FILE


def read(path: Path) -> Measured:
    if not path.is_file():
        raise HamletError(f"{path} is not there", "run `hamlet bench scaling`")
    table = pq.read_table(path)
    if table.schema.remove_metadata() != SCHEMA:
        raise HamletError(f"{path} has other columns", "run `hamlet bench scaling` again")
    about = {key.decode(): text.decode() for key, text in (table.schema.metadata or {}).items()}
    return Measured((Row(**row) for row in table.to_pylist()), about)


def about(**more: Any) -> dict[str, str]:
    """Machine and versions."""
    return {
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        **{name: str(value) for name, value in more.items()},
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
