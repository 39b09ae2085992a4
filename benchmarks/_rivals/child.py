"""Runs one system in its own process: `python -m benchmarks._rivals.child SYSTEM FOLDER`.

It reads the job from the folder, says that it is ready, and runs the job for each line `run`. It
answers with a line of JSON: seconds, CPU seconds, and a row `[query, window, count, sum]` for each
window that has a trend. The time runs from events in memory to rows in memory. A line `job FOLDER`
makes it read another job and say again that it is ready. `java/Rival.java` does the same.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks._rivals import sql
from benchmarks._rivals.job import Job
from benchmarks._rivals.systems import HEAP_MB, ONE_CORE, OUT_OF_MEMORY, RIVALS, SqlRival

Rows = list[tuple[str, int, float, float]]
HEAP = int(os.environ.get("HAMLET_RIVALS_HEAP_MB", HEAP_MB))


class SystemRunner(ABC):
    @abstractmethod
    def load(self, job: Job) -> None:
        """Instead of the job before."""

    def ready(self) -> None:  # noqa: B027 (most have nothing to make)
        """Before the clock."""

    @abstractmethod
    def run(self) -> Any: ...

    @abstractmethod
    def rows(self, found: Any) -> Rows:
        """After the clock: what was found, as all systems tell it."""

    def cpu(self) -> float:
        return time.process_time()


class Hamlet(SystemRunner):
    def load(self, job: Job) -> None:
        from benchmarks.baselines.ours import Hamlet as Ours
        from runtime.language.parser import parse

        self._within = job.within
        workload = parse(job.workload)
        Ours().prepare(workload, job.table.slice(0, 20)).run()  # compiles, as starting Java does
        self._prepared = Ours().prepare(workload, job.table)

    def ready(self) -> None:
        self._prepared.ready()

    def run(self) -> Any:
        return self._prepared.run()

    def rows(self, found: Any) -> Rows:
        return [
            (name, row["window_start"] // self._within, row["n"], row["s"])
            for name, table in found.items()
            for row in table.to_pylist()
        ]


class Sql(SystemRunner):
    def __init__(self, name: str) -> None:
        rival = RIVALS[name]
        assert isinstance(rival, SqlRival)
        self._rival = rival

    def load(self, job: Job) -> None:
        self._statements = self._rival.statements(job.queries)
        self._fill(job, sql.roles(self._statements))

    def run(self) -> Any:
        return [self._found(each.text) for each in self._statements]

    def rows(self, found: Any) -> Rows:
        both = zip(self._statements, found, strict=True)
        return [row for statement, rows in both for row in statement.rows(rows)]

    @abstractmethod
    def _fill(self, job: Job, roles: pa.Table) -> None:
        """The views `e` and `q`, in memory."""

    @abstractmethod
    def _found(self, statement: str) -> Any: ...


class DuckDb(Sql):
    def __init__(self, name: str) -> None:
        import duckdb

        super().__init__(name)
        self._connection = duckdb.connect()
        self._connection.execute(f"SET threads = 1; SET memory_limit = '{HEAP}MB'")
        self._connection.execute("SET temp_directory = ''")  # as with Java, memory is all there is

    def _fill(self, job: Job, roles: pa.Table) -> None:
        self._connection.register("events", job.table)
        self._connection.register("roles", roles)
        text = f"SELECT time // {job.within} AS win, time, type::VARCHAR AS type, x FROM events"
        self._connection.execute(f"CREATE OR REPLACE TABLE e AS {text}")
        self._connection.execute("CREATE OR REPLACE TABLE q AS SELECT * FROM roles")

    def _found(self, statement: str) -> Any:
        import duckdb

        try:
            return self._connection.execute(statement).fetchall()
        except duckdb.OutOfMemoryException as error:
            raise MemoryError from error


class Spark(Sql):
    def __init__(self, name: str) -> None:
        from pyspark.sql import SparkSession

        super().__init__(name)
        options = " ".join(("-XX:+ExitOnOutOfMemoryError", *ONE_CORE))
        settings = {
            "spark.driver.memory": f"{HEAP}m",
            "spark.driver.extraJavaOptions": options,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": "1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = SparkSession.builder.master("local[1]").appName(name)
        for key, value in settings.items():
            builder = builder.config(key, value)
        self._session = builder.getOrCreate()
        gateway = self._session.sparkContext._gateway
        assert gateway is not None
        self._gateway = gateway.proc

    def _fill(self, job: Job, roles: pa.Table) -> None:
        self._session.catalog.clearCache()
        table = job.table.set_column(1, "type", job.table["type"].cast("string"))
        frame = self._session.createDataFrame(table.to_pandas()).coalesce(1)
        frame = frame.selectExpr(f"time div {job.within} AS win", "time", "type", "x").cache()
        frame.count()  # into memory
        frame.createOrReplaceTempView("e")
        if roles.num_rows:  # Spark makes no frame of nothing
            self._session.createDataFrame(roles.to_pandas()).createOrReplaceTempView("q")

    def _found(self, statement: str) -> Any:
        from py4j.protocol import Py4JError, Py4JNetworkError

        try:
            return [tuple(row) for row in self._session.sql(statement).collect()]
        except (Py4JError, Py4JNetworkError, ConnectionError) as error:
            if self._ended() == OUT_OF_MEMORY:
                raise MemoryError from error
            raise

    def _ended(self) -> int | None:
        try:
            return int(self._gateway.wait(5))
        except Exception:
            return None

    def cpu(self) -> float:
        """Java's alone: what Python does here is to wait."""
        cells = Path(f"/proc/{self._gateway.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK")


def made(name: str) -> SystemRunner:
    if name == "hamlet":
        return Hamlet()
    return (DuckDb if name.startswith("duckdb") else Spark)(name)


def timed(running: SystemRunner) -> dict[str, Any]:
    running.ready()
    gc.collect()
    gc.disable()
    cpu, wall = running.cpu(), time.perf_counter()
    found = running.run()
    wall, cpu = time.perf_counter() - wall, running.cpu() - cpu
    gc.enable()
    return {"wall": wall, "cpu": cpu, "rows": running.rows(found)}


def main(name: str, folder: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is not an answer
    try:
        running = made(name)
        running.load(Job.read(Path(folder)))
        answers.write('{"ready": true}\n')
        for line in sys.stdin:
            asked, _, other = line.rstrip("\n").partition(" ")
            if asked == "job":
                running.load(Job.read(Path(other)))
                answers.write('{"ready": true}\n')
            else:
                answers.write(json.dumps(timed(running)) + "\n")
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main(*sys.argv[1:])
