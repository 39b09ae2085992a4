"""The other systems: what they cannot express and why, and how to start them."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from benchmarks._rivals import sql
from benchmarks._rivals.classes import JARS, class_path
from benchmarks._rivals.job import Job, Query
from spark_ingest import java
from spark_ingest.jars import listed

HEAP_MB = 2_048
#: What Java exits with when its heap is full, and our own processes, too.
OUT_OF_MEMORY = 3
#: Beyond this, 2^k is beyond a double.
MOST_BS = 1_000

# One thread to collect garbage; systems start as many of their own as they do.
ONE_CORE = ("-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC")


_ONLY_ANY = "sequences of fixed length are only written here under skip-till-any-match"


class Rival(ABC):
    name: str
    java = False  #: whether it is compiled while it runs, and takes its time to

    def cannot(self, job: Job) -> str | None:
        """Why it cannot express a query of the job, in words."""
        for query in job.queries:
            reason = self._reason(query, job)
            if reason is not None:
                return reason
        return None

    @abstractmethod
    def _reason(self, query: Query, job: Job) -> str | None: ...

    @abstractmethod
    def command(self, folder: Path, heap_mb: int) -> list[str]: ...

    @property
    @abstractmethod
    def version(self) -> str: ...

    def environment(self, heap_mb: int) -> dict[str, str]:
        one = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
        return {**os.environ, **java.environment(), **one, "HAMLET_RIVALS_HEAP_MB": str(heap_mb)}


class _Python(Rival):
    """A process of `benchmarks._rivals.child`."""

    def __init__(self, name: str, package: str) -> None:
        self.name = name
        self._package = package

    def _reason(self, query: Query, job: Job) -> str | None:
        return None

    def command(self, folder: Path, heap_mb: int) -> list[str]:
        return [sys.executable, "-m", "benchmarks._rivals.child", self.name, str(folder)]

    @property
    def version(self) -> str:
        return version(self._package)


class SqlRival(_Python):
    def __init__(
        self, name: str, package: str, *forms: Mapping[tuple[str, bool], str], java: bool = False
    ) -> None:
        super().__init__(name, package)
        self.java = java
        self._forms = {asked: text for each in forms for asked, text in each.items()}

    def statements(self, queries: Iterable[Query]) -> list[sql.Statement]:
        return sql.statements(self._forms, queries)

    def _reason(self, query: Query, job: Job) -> str | None:
        form = self._forms.get((query.semantics, query.kleene))
        if form is None:
            return _unwritten(query)
        if form is sql.WINDOW_ANY and job.longest(query.middle) > MOST_BS:
            return "2^k is beyond a double"
        return None


class _Java(Rival):
    """A main class of `java/`."""

    java = True

    def __init__(self, name: str, main: str, artifact: str) -> None:
        self.name = name
        self._main = main
        self._artifact = artifact

    def _reason(self, query: Query, job: Job) -> str | None:
        if not query.kleene and query.semantics != "skip-till-any-match":
            return _ONLY_ANY
        return None

    def command(self, folder: Path, heap_mb: int) -> list[str]:
        program = java.java_home(os.environ) / "bin" / "java"
        options = [f"-Xmx{heap_mb}m", "-XX:+ExitOnOutOfMemoryError", *ONE_CORE]
        path = os.pathsep.join(map(str, class_path(self.name)))
        return [str(program), *options, "-cp", path, self._main, str(folder)]

    @property
    def version(self) -> str:
        split = [jar.coordinates.split(":") for jar in listed(JARS / f"{self.name}.jars")]
        return next(number for _, artifact, number in split if artifact == self._artifact)


def _unwritten(query: Query) -> str:
    if not query.kleene:
        return _ONLY_ANY
    if query.semantics == "skip-till-any-match":
        return "a join has as many events as tables, and Spark 3.5 has no recursive query"
    return "a join finds pairs, not which event comes next; window functions do"


_ALL: tuple[Rival, ...] = (
    _Python("hamlet", "hamlet-runtime"),
    _Java("flink", "FlinkRival", "flink-cep"),
    _Java("esper", "EsperRival", "esper-runtime"),
    SqlRival("spark-join", "pyspark", sql.JOIN, java=True),
    SqlRival("spark-window", "pyspark", sql.WINDOW, java=True),
    SqlRival("duckdb-join", "duckdb", sql.JOIN, sql.RECURSIVE),
    SqlRival("duckdb-window", "duckdb", sql.WINDOW),
)
RIVALS = {rival.name: rival for rival in _ALL}
