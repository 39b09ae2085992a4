"""Re-plans the workload in a thread of its own, while it goes on running."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor, wait

from runtime.optimizer.model_report import Replan
from runtime.optimizer.optimizer import Optimizer, ReplanResult

logger = logging.getLogger(__name__)


class ReplanThread:
    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._result: Future[ReplanResult] | None = None
        self._thread = ThreadPoolExecutor(1, "planning")

    def poll(self) -> Replan | None:
        """Applies a plan that is ready, and starts a re-plan if one is due. Never waits."""
        outcome = None
        if self._result is not None:
            if not self._result.done():
                return None
            result, self._result = self._result, None
            outcome = self._apply(result)
        request = self._optimizer.request()
        if request is not None:
            self._result = self._thread.submit(request.plan)
        return outcome

    def _apply(self, result: Future[ReplanResult]) -> Replan | None:
        """If planning failed, the current plan stays."""
        try:
            return self._optimizer.apply(result.result())
        except Exception:
            logger.exception("re-planning failed; the current plan stays")
            self._optimizer.record_failure()
            return None

    def wait(self) -> None:
        """Waits for the re-plan that is running, if any."""
        if self._result is not None:
            wait([self._result])

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
