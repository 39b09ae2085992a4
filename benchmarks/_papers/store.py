"""Stores measurements as Parquet: one row per system and point, with machine and versions."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

import hamlet
from runtime.errors import HamletError

PACKAGES = ("numba", "numpy", "pyarrow")
_KEY = b"hamlet.papers"

_SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("sweep", pa.string()),
        ("x", pa.string()),
        ("system", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("seconds", pa.list_(pa.float64())),
        ("cpu_seconds", pa.list_(pa.float64())),
        ("median", pa.float64()),
        ("smallest", pa.float64()),
        ("largest", pa.float64()),
        ("cpu_median", pa.float64()),
        ("windows", pa.int64()),
        ("events", pa.int64()),
        ("queries", pa.int64()),
        ("state_bytes", pa.int64()),
        ("figures", pa.map_(pa.string(), pa.list_(pa.float64()))),
    ]
)
_DERIVED = {"median", "smallest", "largest", "cpu_median"}


class Shown(NamedTuple):
    """A median, and between what the repeats lie."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """`status`: ended; not ended (in its time); not tried (after it did not end at a smaller
    point); cannot (express the workload); failed. All but the first have a reason."""

    experiment: str
    sweep: str
    x: str
    system: str
    status: str
    reason: str
    seconds: tuple[float, ...]
    cpu_seconds: tuple[float, ...]
    windows: int
    events: int
    queries: int
    state_bytes: int | None  #: the most of all repeats
    figures: Mapping[str, tuple[float, ...]]  #: of each repeat

    def shown(self, what: str) -> Shown | None:
        """None: it did not end, or has no such figure."""
        if self.status != "ended":
            return None
        match what:
            case "latency":
                return self._spread([each / self.windows for each in self.seconds])
            case "cpu":
                return self._spread([each / self.windows for each in self.cpu_seconds])
            case "throughput":
                return self._spread([self.events / each for each in self.seconds])
            case "memory":
                return None if self.state_bytes is None else Shown(*[float(self.state_bytes)] * 3)
            case _:
                values = self.figures.get(what)
                return None if not values else self._spread(values)

    def bound(self, what: str, limit: float) -> tuple[str, float] | None:
        """What is known of a system that did not end in `limit` seconds: "more" than a latency,
        "less" than a throughput, nothing else."""
        if self.status != "not ended":
            return None
        if what in ("latency", "cpu"):
            return "more", limit / self.windows
        return ("less", self.events / limit) if what == "throughput" else None

    @staticmethod
    def _spread(values: Sequence[float]) -> Shown:
        return Shown(median(values), min(values), max(values))

    def _record(self) -> dict[str, Any]:
        record = asdict(self) | {"figures": sorted(self.figures.items())}
        if self.status == "ended":
            spread = self._spread(self.seconds)
            record |= {"median": spread.median, "smallest": spread.low, "largest": spread.high}
            record["cpu_median"] = median(self.cpu_seconds)
        return record


@dataclass(frozen=True)
class Measured:
    rows: tuple[Row, ...]
    about: Mapping[str, Any]  #: machine, versions, date, mode, limits

    @property
    def limit(self) -> float:
        return float(self.about["limits"]["seconds"])

    def of(self, experiment: str, sweep: str) -> list[Row]:
        return [row for row in self.rows if (row.experiment, row.sweep) == (experiment, sweep)]

    @property
    def sweeps(self) -> set[tuple[str, str]]:
        return {(row.experiment, row.sweep) for row in self.rows}

    def with_(self, newer: Measured) -> Measured:
        """The sweeps of both; of one that is in both, that of the newer."""
        again = newer.sweeps
        kept = tuple(row for row in self.rows if (row.experiment, row.sweep) not in again)
        dates = dict.fromkeys((self.about["date"].split(" to ")[0], newer.about["date"]))
        return Measured(kept + newer.rows, {**newer.about, "date": " to ".join(dates)})


def differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """What does not allow to put two measurements side by side; another day does."""
    return [name for name in one if name != "date" and one[name] != other.get(name)]


def about(mode: str, seconds: float, memory_bytes: int, repeats: int) -> dict[str, Any]:
    """How measurements that are made now come about."""
    versions = {name: version(name) for name in PACKAGES}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "mode": mode,
        "repeats": repeats,
        "limits": {"seconds": seconds, "memory_bytes": memory_bytes},
        "machine": machine(),
        "versions": {
            "hamlet": hamlet.__version__,
            "python": platform.python_version(),
            **versions,
        },
    }


def machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def write(path: Path, measured: Measured) -> None:
    table = pa.Table.from_pylist([row._record() for row in measured.rows], schema=_SCHEMA)
    metadata = {_KEY: json.dumps(measured.about, sort_keys=True).encode()}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata(metadata), path)


def read(path: Path) -> Measured:
    table = pq.read_table(path)
    metadata = table.schema.metadata or {}
    if _KEY not in metadata or not table.schema.equals(_SCHEMA):
        raise HamletError(
            f"{path} holds no measurements of the papers' experiments, or those of another version",
            "`hamlet bench papers` makes them",
        )
    rows = table.drop_columns(sorted(_DERIVED)).to_pylist()
    return Measured(tuple(map(_row, rows)), json.loads(metadata[_KEY]))


def _row(read: dict[str, Any]) -> Row:
    lists = {name: tuple(read[name]) for name in ("seconds", "cpu_seconds")}
    figures = {name: tuple(values) for name, values in read["figures"]}
    return Row(**read | lists | {"figures": figures})
