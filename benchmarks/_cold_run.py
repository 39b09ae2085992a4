"""A cold run over one file, as a user starts it: from the command to its exit, against Spark alone.

`python -m benchmarks._cold_run FILE COLUMN...` is Spark alone: it starts the same Ray and the same
Spark on it, reads the same columns into Arrow, and ends.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from actors import cluster as clusters
from benchmarks import _pipeline as pipeline
from benchmarks._commands import ENVIRONMENT, HAMLET, first_record, written_queries
from spark_ingest import session

Moments = dict[str, float]
WARM_ROWS = 10_000


def measure(data: pipeline.Input, scratch: Path, repeats: int) -> dict[str, float]:
    """The best times; the two take turns. A run over the first events comes before, so that kernels
    are compiled, as they are for everyone who runs the queries a second time."""
    (path,) = data.folder.iterdir()
    queries, few = written_queries(data, scratch), scratch / "few.parquet"
    pq.write_table(pq.read_table(path).slice(0, WARM_ROWS), few)
    _run(few, queries, scratch / "cold")
    works: dict[str, Callable[[], Moments]] = {
        "cold": lambda: _run(path, queries, scratch / "cold"),
        "spark_alone": lambda: _spark_alone(path, sorted(data.workload.uses)),
    }
    best: dict[str, Moments] = {}
    for _ in range(repeats):
        for name, work in works.items():
            found = work()
            if name not in best or found["end"] < best[name]["end"]:
                best[name] = found
    return {
        "cold_over_spark_alone": best["cold"]["end"] / best["spark_alone"]["end"],
        **{
            f"{name}_seconds_to_{moment}": seconds
            for name, moments in best.items()
            for moment, seconds in moments.items()
        },
    }


def _run(path: Path, queries: Path, output: Path) -> Moments:
    """Seconds to the start of reading, to the commit of the first rows, and to the exit."""
    shutil.rmtree(output, ignore_errors=True)
    arguments = ["run", str(queries), "--input", str(path), "--output", str(output)]
    began = time.time()
    _done([*HAMLET, *arguments, "--time-unit", pipeline.UNIT])
    ended, first = time.time(), first_record(output)
    return {
        "start": first["began"] - began,
        "first_rows": first["time"] - began,
        "end": ended - began,
    }


def _spark_alone(path: Path, uses: list[str]) -> Moments:
    """Seconds to the start of reading, to its end, and to the exit."""
    began = time.time()
    printed = _done([sys.executable, "-m", __name__, str(path), "time", "type", *uses])
    ended, found = time.time(), json.loads(printed.splitlines()[-1])
    return {
        "start": found["started"] - began,
        "rows": found["read"] - began,
        "end": ended - began,
    }


def _done(command: list[str]) -> str:
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"`{' '.join(command)}` failed:\n{done.stderr[-4_000:]}")
    return done.stdout


def _read(path: str, columns: list[str]) -> None:
    with clusters.start(session.environment(embedded=True)) as cluster:
        spark = session.start(cluster, limit_s=pipeline.SPARK_SECONDS)
        started = time.time()
        frame: Any = spark.read.parquet(path).select(*dict.fromkeys(columns))
        frame._jdf.toArrowBatchRdd().count()
        print(json.dumps({"started": started, "read": time.time()}), flush=True)


if __name__ == "__main__":
    _read(sys.argv[1], sys.argv[2:])
