"""Executors that are lost for good are replaced, whatever Java has failed to answer before."""

import threading
from typing import Any

import pytest

from spark_ingest import executors
from spark_ingest.executors import ExecutorMonitor
from tools.patience import PATIENCE_S


class BusySpark:
    """In the place of a session: Java fails to answer, then one of two executors is missing."""

    def __init__(self, errors: int) -> None:
        self._errors = errors
        self.requested = threading.Event()
        self.missing = 0

    @property
    def sparkContext(self) -> "BusySpark":
        if self._errors:
            self._errors -= 1
            raise OSError("Answer from Java side is empty")
        return self

    @property
    def _jsc(self) -> "BusySpark":
        return self

    def sc(self) -> "BusySpark":
        return self

    def getExecutorMemoryStatus(self) -> "BusySpark":
        return self

    def size(self) -> int:
        return 2  # with the driver

    def requestExecutors(self, missing: int) -> None:
        self.missing = missing
        self.requested.set()


def test_java_fails_to_answer_for_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(executors, "EVERY_SECONDS", 0.001)
    monkeypatch.setattr(executors, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(executors, "GONE_SECONDS", 0.0, raising=False)  # it gave up after that
    spark: Any = BusySpark(errors=5)
    monitor = ExecutorMonitor(spark, wanted=2)
    assert spark.requested.wait(PATIENCE_S)
    monitor.stop()
    assert spark.missing == 1
