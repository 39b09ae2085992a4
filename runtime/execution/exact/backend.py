"""The exact engine behind `Engine`: feeds rows of Python values to executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any

import pyarrow as pa

from runtime.errors import HamletError
from runtime.execution.exact.executor import EventRow, ExactExecutor
from runtime.execution.exact.results import Group, TotalsMerge
from runtime.execution.exact.trends import Totals
from runtime.execution.state_file import StatePart
from runtime.language.query import Query, Workload
from runtime.plan.cost_model import Samples
from runtime.plan.decisions import Decisions
from runtime.plan.observations import Observations
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan
from runtime.types.columns import TYPE, times_of


class ExactBackend:
    def __init__(self) -> None:
        # Both only grow: queries that run already keep their places.
        self._layout: dict[str, int] = {}
        self._doubles: set[str] = set()
        self._types: Mapping[str, pa.DataType] = {}
        self._executors: dict[tuple[str, ...], ExactExecutor] = {}

    def bind(self, types: Mapping[str, pa.DataType]) -> None:
        """`types` are those of the attributes that the workload uses from now on."""
        self._types = types
        for name, type_ in types.items():
            self._layout.setdefault(name, len(self._layout))
            if pa.types.is_floating(type_):
                self._doubles.add(name)

    def add(
        self, queries: tuple[Query, ...], since: int | None, plan: SharingPlan | None = None
    ) -> None:
        for query in queries:
            known = self._executors.get(query.partition_by)
            if known is None:
                known = ExactExecutor((), self._layout, self._doubles)
                self._executors[query.partition_by] = known
            known.add(query, since)

    def remove(self, query: Query) -> None:
        self._executors[query.partition_by].remove(query.name)

    def execute(self, events: pa.RecordBatch, arrivals: range | None) -> None:
        moments = self._moments(events, arrivals)
        for executor in self._executors.values():
            executor.process(moments)

    def sweep(self, watermark: int) -> None:
        """Windows end at `close`."""

    def close(self, watermark: int, workload: Workload) -> dict[str, dict[Group, Totals]]:
        """The totals of the windows that end by the watermark, by query."""
        merge = TotalsMerge(workload)
        for executor in self._executors.values():
            merge.add(executor.close(watermark))
        merged = {query.name: merge.drain(query.name) for query in workload}
        return {name: totals for name, totals in merged.items() if totals}

    def set_policy(self, policy: Policy) -> None:
        raise HamletError("the exact engine shares nothing, so it takes no policy")

    def set_plan(self, plan: SharingPlan) -> None:
        """Nothing is shared, and results do not depend on the plan."""

    def take_observations(self) -> Observations:
        return Observations()

    def state_bytes(self) -> int:
        raise HamletError("the memory of whole numbers of any size is not counted")

    def open_windows(self) -> int:
        return sum(executor.open_windows() for executor in self._executors.values())

    def decisions(self) -> list[Decisions]:
        """None: the exact engine shares nothing."""
        return []

    def take_decisions(self) -> list[Decisions]:
        return []

    def plan_version(self) -> int:
        return 0

    def partitions(self) -> int:
        """Not counted."""
        return 0

    def live_graphlets(self) -> int:
        return 0

    def take_samples(self) -> Samples:
        return Samples.empty()

    def decision_seconds(self) -> float:
        return 0.0

    def save(self) -> Iterator[StatePart]:
        yield StatePart("layout", list(self._layout))
        for executor in self._executors.values():
            yield from executor.save()

    def load(self, part: StatePart) -> None:
        for executor in self._executors.values():
            executor.load(part)

    def load_first(self, parts: Mapping[str, Any]) -> None:
        """Loads the places of attributes, which binding columns requires."""
        self._layout = {name: place for place, name in enumerate(parts["layout"])}

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        return self._types

    def _moments(self, events: pa.RecordBatch, arrivals: range | None) -> list[EventRow]:
        times = times_of(events).tolist()
        types = events.column(TYPE).to_pylist()
        # A place outlives the query that used it.
        gone = [None] * len(times)
        columns = [
            _values(events.column(name)) if name in self._types else gone for name in self._layout
        ]
        rows = list(zip(*columns, strict=True)) if columns else [()] * len(times)
        instants = zip(times, repeat(0) if arrivals is None else arrivals, strict=False)
        return [
            EventRow(instant, type_, row)
            for instant, type_, row in zip(instants, types, rows, strict=True)
        ]


def _values(column: pa.Array) -> list[Any]:
    """Python values; times as integers, which compare alike at every resolution."""
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
    return column.to_pylist()  # type: ignore[no-any-return]
