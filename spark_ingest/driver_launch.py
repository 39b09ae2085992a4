"""Starts the JVM of Spark's driver in its own thread: it takes seconds, and needs no Ray."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from actors.processes import kill_tree
from spark_ingest import jvm
from spark_ingest.spark_patches import gateway_output


class DriverLaunch:
    """PySpark keeps the JVM of a process, and the next session uses it. `settings` returns those of
    the session, of which the JVM gets the flags, the memory and the class path."""

    def __init__(self, settings: Callable[[], Mapping[str, str]], log: Path) -> None:
        self._settings = settings
        self._log = log
        self._lock = threading.Lock()
        self._starting: Any = None  #: the process, until it answers
        self._ended = False
        self._launched = False  #: a JVM that was there before belongs to somebody else
        self._thread = threading.Thread(target=self._try, name="spark-driver", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Returns when the JVM runs. If it did not start, tries again, which raises the error."""
        self._thread.join()
        self._launch()
        if self._ended:  # PySpark would start another one
            raise RuntimeError("the driver was ended while it started")

    def end(self) -> None:
        """Ends the JVM that this launch started, even while it starts."""
        with self._lock:
            self._ended = True
            if self._starting is not None:
                kill_tree(self._starting.pid)
        self._thread.join()
        if self._launched:
            jvm.end_gateway()

    def _try(self) -> None:
        with suppress(Exception):
            self._launch()

    def _launch(self) -> None:
        from pyspark import SparkConf, SparkContext

        if self._ended or SparkContext._gateway is not None:
            return
        self._launched = True
        conf = SparkConf(loadDefaults=False).setAll(list(self._settings().items()))
        with gateway_output(self._log, self._started):
            try:
                SparkContext._ensure_initialized(conf=conf)
            finally:
                self._starting = None

    def _started(self, process: Any) -> None:
        with self._lock:
            self._starting = process
            if self._ended:
                kill_tree(process.pid)
