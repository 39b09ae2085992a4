"""Sees to it that Spark has its executors.

Ray restarts an executor that dies, and Spark takes it in again. But RayDP loses count of whom it
knows when one has died several times: Ray then takes it for one that nobody needs, ends it for
good, and Spark would wait for ever. Another one is asked for in its place.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from pyspark.sql import SparkSession

EVERY_SECONDS = 2.0
# A restart takes about 12 seconds. One too many does no harm.
GRACE_SECONDS = 30.0
GONE_SECONDS = 60.0


def count(session: SparkSession) -> int:
    context: Any = session.sparkContext._jsc.sc()
    return int(context.getExecutorMemoryStatus().size()) - 1  # the driver counts as one


class ExecutorMonitor:
    """Looks after `wanted` executors, in a thread of its own, until it is stopped or the session
    is."""

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
        whole = heard = time.monotonic()
        while not self._stopped.wait(EVERY_SECONDS):
            try:
                missing = self._wanted - count(self._session)
                if missing > 0 and time.monotonic() - whole > GRACE_SECONDS:
                    context: Any = self._session.sparkContext._jsc.sc()
                    context.requestExecutors(missing)
                    missing = 0  # they have as long to come
            except Exception:  # a busy Java may fail to answer once; one that is gone does for good
                if time.monotonic() - heard > GONE_SECONDS:
                    return
                continue
            heard = time.monotonic()
            if missing <= 0:
                whole = heard
