"""Replaces executors of Spark that are lost for good.

Ray restarts an executor that dies, and it joins Spark again. But after several crashes of one
executor RayDP loses its handle: Ray then ends the actor for good, and Spark would wait forever. The
monitor requests another one.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from pyspark.sql import SparkSession

from spark_ingest import jvm

EVERY_SECONDS = 2.0
# A restart takes about 12 seconds. One executor too many does no harm.
GRACE_SECONDS = 30.0


def count(session: SparkSession) -> int:
    context: Any = session.sparkContext._jsc.sc()
    return int(context.getExecutorMemoryStatus().size()) - 1  # the driver counts as one


class ExecutorMonitor:
    """Keeps `wanted` executors running, in its own thread, until it or the session is stopped."""

    def __init__(self, session: SparkSession, wanted: int) -> None:
        self._session = session
        self._wanted = wanted
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="executors", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(EVERY_SECONDS)

    def _run(self) -> None:
        whole = time.monotonic()
        while not self._stopped.wait(EVERY_SECONDS):
            try:
                missing = self._wanted - count(self._session)
                if missing > 0 and time.monotonic() - whole > GRACE_SECONDS:
                    context: Any = self._session.sparkContext._jsc.sc()
                    context.requestExecutors(missing)
                    missing = 0  # restarts the grace period
            except Exception:  # a busy JVM may fail to answer for a while, a dead one always
                if jvm.ended() is not None:
                    return
                continue
            if missing <= 0:
                whole = time.monotonic()
