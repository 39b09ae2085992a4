"""The interface through which a driver gets queries to add or remove while a job runs."""

from __future__ import annotations

from typing import Protocol

from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.bound_workload import BoundWorkload


class WorkloadChanges(Protocol):
    def next(self, bound_workload: BoundWorkload) -> WorkloadChange | None:
        """The next change, checked against the current workload; None if there is none."""

    def adopted(self, change: WorkloadChange, epoch: int) -> None:
        """The change takes effect with this epoch; its `since` is set."""
