"""Computes the epochs of the shards that one aggregator owns, and saves their state.

A repeated epoch returns the same result and changes nothing; an epoch out of sequence is rejected.
So the driver can repeat a call whose outcome it does not know.
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
from runtime.pipeline.blob_store import parsing
from runtime.pipeline.checkpoint_files import CheckpointFiles
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

# A log may grow to this multiple of the state before the state itself is saved. Replaying one or
# two million events takes a second.
LOG_OVER_STATE = 4
LEAST_LOG = 64 << 20
# Every manifest names the segments of a log, so their number is limited to one per megabyte of
# state.
LEAST_SEGMENTS = 64

_NO_STATE = "is not the state of a shard"


@dataclass(frozen=True)
class WorkloadChange:
    """Queries to add and remove before an epoch. New queries report windows that start at `since`
    or later."""

    added: tuple[Query, ...] = ()
    removed: tuple[str, ...] = ()
    since: int | None = None


@dataclass(frozen=True)
class EpochCommand:
    """Tells the aggregators what to do in an epoch. Windows that end by the `watermark` close; the
    `last` epoch closes all. `plan` is for the workload after the change. Epochs up to `committed`
    are never repeated."""

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
    statistics: ShardStatistics  #: of all shards, after the epoch
    events: int = 0
    saved_bytes: int = 0
    policy: int = 0
    began: float = 0.0  #: as Unix time
    compute_seconds: float = 0.0
    save_seconds: float = 0.0
    decisions: list[Decisions] = field(default_factory=list)  #: made in this epoch


class Aggregation:
    def __init__(
        self,
        settings: Settings,
        input_format: InputFormat,
        workload: Workload,
        shards: Iterable[int],
        store: CheckpointFiles | None,
        *,
        since: Mapping[str, int] | None = None,
        name: str = "0",
        last_epoch: int = -1,
    ) -> None:
        """Saves state to `store`, if there is one. `since` has the first window start of each query
        that was added later, `name` is part of the names of its files, `last_epoch` is the last
        committed epoch."""
        self._settings = settings
        self._input_format = input_format
        self._workload = workload
        self._numbers = tuple(shards)
        self._store = store
        self._since = dict(since or {})
        self._name = name
        self._last_epoch = last_epoch
        self._results: dict[int, EpochResult] = {}
        self._policy: Policy | None = None
        self._routes = routes_of(workload)
        self._shards: dict[Unit, Shard] = {}
        self._saved: dict[Unit, SavedUnit] = {}
        self._state_bytes: dict[Unit, int] = {}
        self._on_disk: set[Unit] = set()  #: those of whose waiting events some are on disk
        self._log_thread = ThreadPoolExecutor(1, "log")

    # ---- creating and restoring shards -----------------------------------------------------

    def restore(self, saved: Mapping[Unit, SavedUnit], watermark: int | None) -> None:
        """Restores the shards as they were after the last committed epoch."""
        for unit, segments in saved.items():
            if unit[1] in self._numbers:
                self._shards[unit] = self._restored(unit, segments, watermark)
                self._shards[unit].take_decisions()  # reported before
                self._saved[unit] = segments

    def _restored(self, unit: Unit, saved: SavedUnit, watermark: int | None) -> Shard:
        assert self._store is not None
        if saved.snapshot is None:
            shard = self._fresh(unit)
        else:
            data = saved.snapshot.read(self._store).to_pybytes()
            workload = self._workload_of(unit)
            with parsing(saved.snapshot.file, _NO_STATE):
                shard = Shard.restored(
                    self._settings, workload, self._input_format, data, has_panes=True
                )
        for segment in saved.log:
            data = segment.read(self._store)
            with parsing(segment.file, _NO_STATE):
                events = list(events_of(data))
            _feed(shard, events, segment.watermark)
            if segment.watermark is not None:
                shard.advance(segment.watermark)  # these results were published
        if watermark is not None:
            shard.advance(watermark)
        return shard

    def _fresh(self, unit: Unit) -> Shard:
        """A shard without state. Queries that were added later start at their `since`."""
        workload = self._workload_of(unit)
        begin = self._since.get(workload.queries[0].name)
        first = [q for q in workload if self._since.get(q.name) == begin]
        together = Workload(tuple(first), workload.source)
        shard = Shard(self._settings, together, self._input_format, has_panes=True)
        shard.bind(self._input_format, begin)
        for query in workload:
            if query not in first:
                shard.add((query,), self._since.get(query.name))
        shard.set_plan(self._settings.plan)
        if self._policy is not None:
            shard.set_policy(self._policy)
        return shard

    def _shard(self, unit: Unit) -> Shard:
        """The shard of a unit, created with its first event."""
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

    def _set_plan(self, plan: SharingPlan) -> None:
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

    def compute_epoch(self, command: EpochCommand, portions: Iterable[Portion]) -> EpochResult:
        """Computes the events of an epoch, which come in the order of arrival."""
        if command.epoch in self._results:
            return self._results[command.epoch]
        if command.epoch != self._last_epoch + 1:
            raise HamletError(
                f"epoch {command.epoch} does not follow epoch {self._last_epoch}, the last computed"
            )
        began = time.perf_counter()
        if command.change is not None:
            self._change(command.change, command.plan)
        elif command.plan is not None:
            self._set_plan(command.plan)
        if command.policy is not None:
            self._set_policy(command.policy)
        events = self._by_unit(portions)
        # The log holds the input, so it can be written while the kernels run.
        logging = self._log_thread.submit(self._log, command, events)
        partials = self._compute(command, events)
        computed = time.perf_counter()
        saved_bytes = logging.result() + self._snapshot(command, events)
        result = self._result(command, partials, events)
        result.saved_bytes = saved_bytes
        result.began = time.time() - (time.perf_counter() - began)
        result.compute_seconds = computed - began
        result.save_seconds = time.perf_counter() - computed
        self._last_epoch = command.epoch
        self._results = {n: a for n, a in self._results.items() if n > command.committed}
        self._results[command.epoch] = result
        return result

    def take_observations(self) -> Observations:
        """What its shards observed since the last call."""
        return Observations.merge(shard.take_observations() for shard in self._shards.values())

    def _set_policy(self, policy: Policy) -> None:
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

    def _compute(self, command: EpochCommand, events: Events) -> list[Partials]:
        for unit, batches in events.items():
            _feed(self._shard(unit), batches, command.watermark)
        found = []
        for shard in self._shards.values():
            if command.last:
                found.append(shard.finish())
            elif command.watermark is not None:
                found.append(shard.advance(command.watermark))
        return found

    def _result(
        self, command: EpochCommand, partials: list[Partials], events: Events
    ) -> EpochResult:
        shards = self._shards.values()
        return EpochResult(
            epoch=command.epoch,
            partials=partials,
            saved=dict(self._saved),
            statistics=ShardStatistics.total(
                (shard.statistics() for shard in shards), self._plan_version
            ),
            events=sum(batch.num_rows for batches in events.values() for batch in batches),
            policy=0 if self._policy is None else self._policy.version,
            decisions=merge_decisions(each for shard in shards for each in shard.take_decisions()),
        )

    @property
    def _plan_version(self) -> int:
        return 0 if self._settings.plan is None else self._settings.plan.version

    # ---- state -----------------------------------------------------------------------------

    def _log(self, command: EpochCommand, events: Events) -> int:
        """Logs the events of shards whose logs may still grow. Returns the number of bytes."""
        if self._store is None or command.last or command.change is not None:
            return 0
        writer = SegmentWriter(self._file(command.epoch, "log"), command.epoch)
        for unit, batches in events.items():
            before = self._saved.get(unit, SavedUnit())
            if self._may_log(unit, before, batches, command):
                self._saved[unit] = before.with_log(writer.add(log_of(batches), command.watermark))
        return writer.write(self._store)

    def _file(self, epoch: int, kind: str) -> str:
        return f"state/{epoch:09d}-{self._name}-{kind}.state"

    def _may_log(
        self, unit: Unit, before: SavedUnit, batches: list[pa.RecordBatch], command: EpochCommand
    ) -> bool:
        """Whether to log the events instead of saving the state. While events are spooled, the log
        is the whole state. Events that wait on disk are too many to be saved again."""
        if unit in self._on_disk:
            return True
        state = self._state_bytes.get(unit, 0)
        limit = max(LEAST_LOG, LOG_OVER_STATE * state)
        log_bytes = before.log_bytes + sum(batch.nbytes for batch in batches)
        few_segments = len(before.log) < max(LEAST_SEGMENTS, state >> 20)
        return command.watermark is None or (few_segments and log_bytes <= limit)

    def _snapshot(self, command: EpochCommand, events: Events) -> int:
        """Saves the whole state of shards that changed and could not be logged."""
        if self._store is None or command.last:
            return 0
        writer = SegmentWriter(self._file(command.epoch, "snapshot"), command.epoch)
        for unit, shard in self._shards.items():
            log = self._saved.get(unit, SavedUnit()).log
            logged = bool(log) and log[-1].file == self._file(command.epoch, "log")
            if command.change is not None or (unit in events and not logged):
                segment = writer.add(pa.py_buffer(shard.save()), command.watermark)
                self._saved[unit] = SavedUnit(segment)
            self._state_bytes[unit] = shard.state_bytes() + shard.buffer.nbytes
            (self._on_disk.add if shard.buffer.is_on_disk else self._on_disk.discard)(unit)
        return writer.write(self._store)


def _feed(shard: Shard, batches: Iterable[pa.RecordBatch], watermark: int | None) -> None:
    """Adds events to a shard. Without a watermark any time may still come, so they are spooled."""
    for events in batches:
        if events.num_rows and watermark is None:
            shard.spool(events)
        elif events.num_rows:
            shard.accept(events)
