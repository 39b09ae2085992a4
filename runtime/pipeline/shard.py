"""The engine of one routing group over the keys of one shard.

As long as no watermark is known, as in a bounded input of which nobody has seen the end, events
are spooled; then they wait in the engine until the watermark passes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from runtime.execution.partials import Partials, merged
from runtime.language.query import Query, Workload
from runtime.pipeline.engine import Engine
from runtime.pipeline.reorder_buffer import ordered
from runtime.pipeline.routing_table import Reading
from runtime.pipeline.spool import Spool
from runtime.plan.decisions import Decisions
from runtime.plan.observations import Seen
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import Plan


@dataclass(frozen=True)
class Settings:
    """How engines compute. `planner` plans anew when the stream changes; None: the plan stays."""

    numeric: str = "float"
    ties: str = "strict"
    sharing: str = "dynamic"
    kernels: str = "auto"
    plan: Plan | None = None
    planner: str | None = None


class Shard:
    def __init__(
        self, settings: Settings, workload: Workload, reading: Reading, since: int | None = None
    ) -> None:
        self._settings = settings
        self._reading = reading
        self._engine = self._new(workload)
        self._engine.bind(reading.columns, since)
        self._settle()
        self._spool: Spool | None = None

    @classmethod
    def restored(
        cls, settings: Settings, workload: Workload, reading: Reading, data: bytes
    ) -> Shard:
        shard = cls.__new__(cls)
        shard._settings, shard._reading, shard._spool = settings, reading, None
        shard._engine = shard._new(workload)
        shard._engine.restore(data)
        return shard

    def _new(self, workload: Workload) -> Engine:
        settings, reading = self._settings, self._reading
        return Engine(
            workload,
            numeric=settings.numeric,
            ties=settings.ties,
            sharing=settings.sharing,
            kernels=settings.kernels,
            plan=None if settings.plan is None else settings.plan.among(workload.queries),
            time_column=reading.time_column,
            type_column=reading.type_column,
            time_unit=reading.time_unit,
        )

    def _settle(self) -> None:
        if self._reading.clock is not None:
            self._engine.preparer.clock.settle(self._reading.clock)

    # ---- events ----------------------------------------------------------------------------

    def accept(self, batches: Iterable[pa.RecordBatch], *, spool: bool) -> None:
        """`spool` while nobody knows which times are still to come."""
        for events in batches:
            if not events.num_rows:
                continue
            if spool:
                self._spooled().add(events)
            else:
                self._engine.accept(events)

    def advance(self, watermark: int) -> Partials:
        self._unspool()
        return self._engine.advance_partial(watermark)

    def finish(self) -> Partials:
        found = []
        if self._spool is not None and self._engine.waiting_rows == 0:
            for events in ordered(self._spool, self._spool.disorder):
                found.append(self._engine.execute_partial(events))
            self._spool.close()
            self._spool = None
        self._unspool()
        found.append(self._engine.finish_partial())
        return merged(found, self._engine.workload)

    def _spooled(self) -> Spool:
        if self._spool is None:
            self._spool = Spool()
        return self._spool

    def _unspool(self) -> None:
        if self._spool is not None:
            with self._spool as spool:
                for events in spool:
                    self._engine.accept(events)
            self._spool = None

    # ---- queries and policies come and go --------------------------------------------------

    def add(self, queries: tuple[Query, ...], since: int | None, plan: Plan | None = None) -> None:
        here = (*self._engine.workload, *queries)
        self._engine.add(queries, since, None if plan is None else plan.among(here))

    def follow(self, plan: Plan | None) -> None:
        if plan is not None and self._settings.numeric == "float":
            self._engine.follow(plan.among(self._engine.workload.queries))

    def take_seen(self) -> Seen:
        return self._engine.take_seen()

    def remove(self, name: str) -> None:
        self._engine.remove(name)

    def adopt(self, policy: Policy) -> None:
        if self._settings.numeric == "float":
            self._engine.adopt(policy)

    # ---- what it holds ---------------------------------------------------------------------

    def save(self) -> bytes:
        self._unspool()
        return self._engine.checkpoint()

    def state_bytes(self) -> int:
        return self._engine.state_bytes() if self._settings.numeric == "float" else 0

    def open_windows(self) -> int:
        return self._engine.open_windows()

    def waiting(self) -> int:
        return self._engine.waiting_rows + (0 if self._spool is None else self._spool.rows)

    def plan_version(self) -> int:
        return self._engine.plan_version()

    def partitions(self) -> int:
        return self._engine.partitions()

    def live_graphlets(self) -> int:
        return self._engine.live_graphlets()

    def take_decided(self) -> list[Decisions]:
        return self._engine.take_decided()
