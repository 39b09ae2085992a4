"""Plans anew in a thread of its own, while what is to be planned goes on running."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor, wait

from runtime.optimizer.model_report import Replan
from runtime.optimizer.optimizer import Answer, Central

logger = logging.getLogger(__name__)


class Background:
    def __init__(self, central: Central) -> None:
        self._central = central
        self._answer: Future[Answer] | None = None
        self._thread = ThreadPoolExecutor(1, "planning")

    def turn(self) -> Replan | None:
        """Takes what has been planned by now, and begins to plan if that is due. Never waits."""
        outcome = None
        if self._answer is not None:
            if not self._answer.done():
                return None
            answer, self._answer = self._answer, None
            outcome = self._taken(answer)
        request = self._central.request()
        if request is not None:
            self._answer = self._thread.submit(request.answer)
        return outcome

    def _taken(self, answer: Future[Answer]) -> Replan | None:
        """Where planning went wrong, the plan stays, and what runs goes on."""
        try:
            return self._central.take(answer.result())
        except Exception:
            logger.exception("planning anew has failed; the plan stays as it is")
            self._central.failed()
            return None

    def settle(self) -> None:
        """Waits for the plan that is being made, if any."""
        if self._answer is not None:
            wait([self._answer])

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
