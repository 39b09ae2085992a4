"""What an aggregator does with the shards it owns: computes an epoch, saves state, answers.

A repeated epoch gives the same answer and changes nothing; an epoch out of sequence is rejected. So
the driver can repeat a call whose outcome it does not know.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pyarrow as pa

from runtime.errors import HamletError
from runtime.execution.partials import Partials
from runtime.language.query import Query, Workload
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.router import Portion
from runtime.pipeline.routing_table import InputFormat, routes_of
from runtime.pipeline.settings import Settings
from runtime.pipeline.shard import Shard, ShardStatistics
from runtime.pipeline.state_segments import SavedUnit, SegmentWriter, events_of, log_of
from runtime.plan.decisions import Decisions, merge_decisions
from runtime.plan.observations import Observations
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan

#: A shard of a routing group: its attributes, and the number of the shard.
Unit: TypeAlias = tuple[tuple[str, ...], int]

#: The events of an epoch for each shard, in the order of arrival.
Events: TypeAlias = dict[Unit, list[pa.RecordBatch]]

# A log may grow to this multiple of the state before the state itself is saved. A second replays
# a million events or two.
LOG_OVER_STATE = 4
LEAST_LOG = 64 << 20
# Every manifest names the pieces of a log, so there may be one for each megabyte of state.
LEAST_PIECES = 64


@dataclass(frozen=True)
class WorkloadChange:
    """Queries that are added and removed before an epoch. New ones report windows from `since`
    on."""

    added: tuple[Query, ...] = ()
    removed: tuple[str, ...] = ()
    since: int | None = None


@dataclass(frozen=True)
class EpochCommand:
    """What an epoch does besides computing its events. Windows that end by the `watermark` close;
    in the `last` epoch all do. `plan` is for the workload after the change. Epochs up to
    `committed` are never repeated."""

    epoch: int
    watermark: int | None = None
    last: bool = False
    change: WorkloadChange | None = None
    policy: Policy | None = None
    committed: int = -1
    plan: SharingPlan | None = None


@dataclass
class EpochResult:
    """The outcome of an epoch in the shards of one owner."""

    epoch: int
    partials: list[Partials]  #: of each shard
    saved: dict[Unit, SavedUnit]
    statistics: ShardStatistics  #: of all shards, after it
    events: int = 0
    saved_bytes: int = 0
    policy: int = 0
    began: float = 0.0  #: as Unix time
    compute_seconds: float = 0.0
    save_seconds: float = 0.0
    decided: list[Decisions] = field(default_factory=list)  #: in this epoch


class Aggregation:
    def __init__(
        self,
        settings: Settings,
        reading: InputFormat,
        workload: Workload,
        shards: Iterable[int],
        folder: BlobStore | None,
        *,
        since: Mapping[str, int] | None = None,
        name: str = "0",
        taken: int = -1,
    ) -> None:
        """State is saved to `folder`, if there is one. `since` says from where queries count that
        were added later, `name` is part of the names of its files, `taken` is the last committed
        epoch."""
        self._settings = settings
        self._reading = reading
        self._workload = workload
        self._numbers = tuple(shards)
        self._folder = folder
        self._since = dict(since or {})
        self._name = name
        self._taken = taken
        self._answers: dict[int, EpochResult] = {}
        self._policy: Policy | None = None
        self._routes = routes_of(workload)
        self._shards: dict[Unit, Shard] = {}
        self._saved: dict[Unit, SavedUnit] = {}
        self._state_bytes: dict[Unit, int] = {}
        self._writing = ThreadPoolExecutor(1, "log")

    # ---- shards come and go ----------------------------------------------------------------

    def restore(self, saved: Mapping[Unit, SavedUnit], watermark: int | None) -> None:
        """Restores its shards as they were after the last committed epoch."""
        for unit, pieces in saved.items():
            if unit[1] in self._numbers:
                self._shards[unit] = self._restored(unit, pieces, watermark)
                self._shards[unit].take_decisions()  # reported before
                self._saved[unit] = pieces

    def _restored(self, unit: Unit, saved: SavedUnit, watermark: int | None) -> Shard:
        assert self._folder is not None
        if saved.snapshot is None:
            shard = self._fresh(unit)
        else:
            data = saved.snapshot.read(self._folder).to_pybytes()
            workload = self._workload_of(unit)
            shard = Shard.restored(self._settings, workload, self._reading, data)
        for piece in saved.log:
            _feed(shard, events_of(piece.read(self._folder)), piece.watermark)
            if piece.watermark is not None:
                shard.advance(piece.watermark)  # these results were published
        if watermark is not None:
            shard.advance(watermark)
        return shard

    def _fresh(self, unit: Unit) -> Shard:
        """A shard without state. Queries that were added later count from their `since`."""
        workload = self._workload_of(unit)
        begin = self._since.get(workload.queries[0].name)
        first = [q for q in workload if self._since.get(q.name) == begin]
        together = Workload(tuple(first), workload.source)
        shard = Shard(self._settings, together, self._reading)
        shard.bind(self._reading, begin)
        for query in workload:
            if query not in first:
                shard.add((query,), self._since.get(query.name))
        shard.set_plan(self._settings.plan)
        if self._policy is not None:
            shard.set_policy(self._policy)
        return shard

    def _shard(self, unit: Unit) -> Shard:
        """A shard is created with its first event."""
        if unit not in self._shards:
            self._shards[unit] = self._fresh(unit)
        return self._shards[unit]

    def _workload_of(self, unit: Unit) -> Workload:
        chosen = tuple(q for q in self._workload if q.partition_by == unit[0])
        return Workload(chosen, self._workload.source)

    def _change(self, change: WorkloadChange, plan: SharingPlan | None) -> None:
        for name in change.removed:
            attributes = self._workload[name].partition_by
            self._workload = self._workload.without_query(name)
            self._since.pop(name, None)
            self._remove(name, attributes)
        self._workload = self._workload.with_queries(change.added)
        if change.since is not None:
            self._since |= {query.name: change.since for query in change.added}
        if plan is not None:
            self._settings = replace(self._settings, plan=plan)
        for (attributes, _), shard in self._shards.items():
            added = tuple(q for q in change.added if q.partition_by == attributes)
            if added:
                shard.add(added, change.since, plan)
        self._routes = routes_of(self._workload)

    def _follow(self, plan: SharingPlan) -> None:
        self._settings = replace(self._settings, plan=plan)
        for shard in self._shards.values():
            shard.set_plan(plan)

    def _remove(self, name: str, attributes: tuple[str, ...]) -> None:
        left = any(query.partition_by == attributes for query in self._workload)
        for unit in [unit for unit in self._shards if unit[0] == attributes]:
            if left:
                self._shards[unit].remove(name)
            else:
                del self._shards[unit]
                self._saved.pop(unit, None)

    # ---- epochs ----------------------------------------------------------------------------

    def take(self, order: EpochCommand, portions: Iterable[Portion]) -> EpochResult:
        """`portions` are in the order of arrival."""
        if order.epoch in self._answers:
            return self._answers[order.epoch]
        if order.epoch != self._taken + 1:
            raise HamletError(
                f"epoch {order.epoch} does not follow on {self._taken}, the last that was taken"
            )
        began = time.perf_counter()
        if order.change is not None:
            self._change(order.change, order.plan)
        elif order.plan is not None:
            self._follow(order.plan)
        if order.policy is not None:
            self._adopt(order.policy)
        events = self._by_unit(portions)
        # The log holds what came in, so it is written while the kernels run.
        logging = self._writing.submit(self._log, order, events)
        partials = self._compute(order, events)
        computed = time.perf_counter()
        saved_bytes = logging.result() + self._snapshot(order, events)
        answer = self._told(order, partials, events)
        answer.saved_bytes = saved_bytes
        answer.began = time.time() - (time.perf_counter() - began)
        answer.compute_seconds = computed - began
        answer.save_seconds = time.perf_counter() - computed
        self._taken = order.epoch
        self._answers = {n: a for n, a in self._answers.items() if n > order.committed}
        self._answers[order.epoch] = answer
        return answer

    def take_observations(self) -> Observations:
        """What its shards observed since the last call."""
        return Observations.merge(shard.take_observations() for shard in self._shards.values())

    def _adopt(self, policy: Policy) -> None:
        self._policy = policy
        for shard in self._shards.values():
            shard.set_policy(policy)

    def _by_unit(self, portions: Iterable[Portion]) -> Events:
        found: Events = {}
        for portion in portions:
            attributes = self._routes[portion.route].attributes
            for place, number in enumerate(self._numbers):
                batch = portion.of_shard(place)
                if batch.num_rows:
                    found.setdefault((attributes, number), []).append(batch)
        return found

    def _compute(self, order: EpochCommand, events: Events) -> list[Partials]:
        for unit, batches in events.items():
            _feed(self._shard(unit), batches, order.watermark)
        found = []
        for shard in self._shards.values():
            if order.last:
                found.append(shard.finish())
            elif order.watermark is not None:
                found.append(shard.advance(order.watermark))
        return found

    def _told(self, order: EpochCommand, partials: list[Partials], events: Events) -> EpochResult:
        shards = self._shards.values()
        return EpochResult(
            epoch=order.epoch,
            partials=partials,
            saved=dict(self._saved),
            statistics=ShardStatistics.total(
                (shard.statistics() for shard in shards), self._plan_version
            ),
            events=sum(batch.num_rows for batches in events.values() for batch in batches),
            policy=0 if self._policy is None else self._policy.version,
            decided=merge_decisions(each for shard in shards for each in shard.take_decisions()),
        )

    @property
    def _plan_version(self) -> int:
        return 0 if self._settings.plan is None else self._settings.plan.version

    # ---- state -----------------------------------------------------------------------------

    def _log(self, order: EpochCommand, events: Events) -> int:
        """Logs the events of shards whose logs have room. Returns the number of bytes."""
        if self._folder is None or order.last or order.change is not None:
            return 0
        writer = SegmentWriter(f"state/{order.epoch:09d}-{self._name}-log.pieces")
        for unit, batches in events.items():
            before = self._saved.get(unit, SavedUnit())
            if self._has_room(unit, before, batches, order):
                self._saved[unit] = before.logged(writer.add(log_of(batches), order.watermark))
        return writer.write(self._folder)

    def _has_room(
        self, unit: Unit, before: SavedUnit, batches: list[pa.RecordBatch], order: EpochCommand
    ) -> bool:
        """While events are spooled, the log is the whole state."""
        state = self._state_bytes.get(unit, 0)
        room = max(LEAST_LOG, LOG_OVER_STATE * state)
        grown = before.log_bytes + sum(batch.nbytes for batch in batches)
        short = len(before.log) < max(LEAST_PIECES, state >> 20)
        return order.watermark is None or (short and grown <= room)

    def _snapshot(self, order: EpochCommand, events: Events) -> int:
        """Saves the whole state of shards that changed and could not be logged."""
        if self._folder is None or order.last:
            return 0
        writer = SegmentWriter(f"state/{order.epoch:09d}-{self._name}.pieces")
        for unit, shard in self._shards.items():
            log = self._saved.get(unit, SavedUnit()).log
            logged = bool(log) and log[-1].file.startswith(f"state/{order.epoch:09d}-")
            if order.change is not None or (unit in events and not logged):
                piece = writer.add(pa.py_buffer(shard.save()), order.watermark)
                self._saved[unit] = SavedUnit(piece)
            self._state_bytes[unit] = shard.state_bytes()
        return writer.write(self._folder)


def _feed(shard: Shard, batches: Iterable[pa.RecordBatch], watermark: int | None) -> None:
    """Without a watermark, any time may still come, so events are spooled."""
    for events in batches:
        if events.num_rows and watermark is None:
            shard.spool(events)
        elif events.num_rows:
            shard.accept(events)
