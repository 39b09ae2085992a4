"""Appends to a Delta table from a process of its own, with a Spark on one core."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from spark_ingest import java
from spark_ingest.jars import DELTA, fetched
from spark_ingest.sources.spark_format import NEEDS

ROOT = Path(__file__).parents[2]
WROTE = "wrote"


class DeltaWriter:
    """Each table that it appends is one file in one commit."""

    def __init__(self, folder: Path, table: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._rows = folder / "rows.parquet"
        with open(folder / "writer.log", "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tools.delta", str(self._rows), str(table)],
                cwd=folder,
                env={
                    **os.environ,
                    **java.environment(),
                    "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}",
                    "SPARK_LOCAL_IP": "127.0.0.1",
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def append(self, rows: pa.Table) -> None:
        """Returns when the commit is made."""
        pq.write_table(rows, self._rows)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline().strip()
        assert said == WROTE, f"the writer of the Delta table has ended: {said}"

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main(rows: str, table: str) -> None:
    """Appends the rows once for each line of standard input."""
    from pyspark.sql import SparkSession

    settings = {
        **NEEDS["delta"].settings,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, fetched(DELTA))),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.ui.enabled": "false",
    }
    spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    for _ in sys.stdin:
        frame = spark.read.parquet(rows).coalesce(1)
        frame.write.format("delta").mode("append").save(table)
        print(WROTE, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
