"""Queries that come and go while a job runs, as others ask for it."""

from __future__ import annotations

from typing import Protocol

from runtime.pipeline.aggregation import Change
from runtime.pipeline.bound_workload import Intake


class Changes(Protocol):
    def next(self, intake: Intake) -> Change | None:
        """What is to change now, checked against the workload."""

    def adopted(self, change: Change, epoch: int) -> None:
        """From this epoch on, and with `since`."""
