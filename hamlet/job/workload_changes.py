"""The interface through which a driver gets queries to add or remove while a job runs."""

from __future__ import annotations

from typing import Protocol

from runtime.errors import HamletError
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.bound_workload import BoundWorkload


class WorkloadChanges(Protocol):
    """Every change is answered, by `committed` or `refused`, before the next one is asked for."""

    def next(self, bound_workload: BoundWorkload) -> WorkloadChange | None:
        """The next change, checked against the current workload; None if there is none."""

    def committed(self, change: WorkloadChange, epoch: int) -> None:
        """The change took effect with this epoch, which is committed; its `since` is set."""

    def refused(self, change: WorkloadChange, reason: HamletError) -> None:
        """The change cannot be made; the workload stays as it is."""
