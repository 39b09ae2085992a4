"""Changes the sharing plan at the end of a pane, so that no pane is computed by two plans."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from runtime.execution.column import Ints
from runtime.language.window import pane_of
from runtime.plan.operators.operator_registry import BY_NAME
from runtime.plan.physical_plan import PhysicalPlan
from runtime.plan.sharing_plan import SharingPlan
from runtime.types.columns import times_of


class PlanSwitch:
    """The current sharing plan, and the one that replaces it at the next pane."""

    def __init__(self, current: SharingPlan) -> None:
        self.current = current
        self._scheduled: SharingPlan | None = None

    def schedule(self, plan: SharingPlan) -> None:
        self._scheduled = plan

    def remove(self, query: str) -> None:
        self.current = self.current.without(query)
        self._scheduled = self._scheduled and self._scheduled.without(query)

    def complete(self) -> None:
        assert self._scheduled is not None
        self.current, self._scheduled = self._scheduled, None

    def boundary(self, plan: PhysicalPlan, now: int | None) -> int | None:
        """The end of the pane of the last event; None if no operator depends on panes."""
        movable = [node for node in plan if BY_NAME[node.operator].movable]
        windows = [query.window for node in movable for query in node.queries]
        pane = pane_of(window for window in windows if not window.counted)
        if now is None or pane == 0:
            return None
        return (now // pane + 1) * pane

    def is_due(self, plan: PhysicalPlan, now: int | None, watermark: int) -> bool:
        if self._scheduled is None:
            return False
        boundary = self.boundary(plan, now)
        return boundary is None or watermark >= boundary

    def cut(
        self, plan: PhysicalPlan, now: int | None, events: pa.RecordBatch, instants: Ints | None
    ) -> Iterator[tuple[bool, pa.RecordBatch, Ints | None]]:
        """The events of the open pane (`True`), then those for the scheduled plan (`False`)."""
        if self._scheduled is None or events.num_rows == 0:
            yield True, events, instants
            return
        boundary = self.boundary(plan, now)
        place = 0 if boundary is None else int(np.searchsorted(times_of(events), boundary))
        yield True, events.slice(0, place), None if instants is None else instants[:place]
        if place < events.num_rows:
            yield False, events.slice(place), None if instants is None else instants[place:]
