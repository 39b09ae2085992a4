"""Rehearses a change of queries on made-up events, so that the kernels it needs are compiled.

Numba compiles a kernel when it is first called, which takes seconds, or minutes on a busy machine:
an aggregator would compute nothing meanwhile. Compiled code is kept on disk. So another process of
the same machine does first what routers, aggregators and the driver are about to do.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.language.query import Workload
from runtime.pipeline.aggregation import Aggregation, EpochCommand, WorkloadChange
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.event_block import block_of
from runtime.pipeline.router import BlockRouter, Portion
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.plan.sharing_plan import SharingPlan
from runtime.temporary_folder import TemporaryFolder
from runtime.types.columns import TIME, TYPE, Mask, encoded_text

SHARDS = 2
# Events come in bunches, so that every window has some, however short it is.
BUNCHES, BUNCH = 16, 32
EVENTS = BUNCHES * BUNCH
VALUES = 3
HOUR = 3_600_000_000

Value = TypeVar("Value")
Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rehearsal:
    """The workload that runs, and what is about to change. `plan` is for the workload after it;
    without a `change` it is all that changes."""

    settings: Settings
    input_format: InputFormat
    workload: Workload
    change: WorkloadChange | None
    plan: SharingPlan | None = None

    def run(self) -> None:
        """Raises what the change would raise."""
        before = BoundWorkload(self.workload, self.input_format, self.settings.numeric)
        after = before
        if self.change is not None:
            after = before.with_changes(self.change.added, self.change.removed)
        with TemporaryFolder("rehearsal-") as folder:
            aggregation = Aggregation(
                self.settings,
                self.input_format,
                self.workload,
                range(SHARDS),
                CheckpointFiles(BlobStore(str(folder), durable=False)),
            )
            span = _span(after.workload)
            for command in self._commands(span):
                bound_workload = after if command.epoch else before
                portions = _portions(bound_workload, command, span)
                result = aggregation.compute_epoch(command, portions)
                bound_workload.tables(received(result).partials)

    def _commands(self, span: int) -> Iterator[EpochCommand]:
        """An epoch before the change, one with it, one in which its windows close, one that saves
        the state that they leave, and the last one."""
        change = None if self.change is None else replace(self.change, since=span)
        yield EpochCommand(0, span)
        yield EpochCommand(1, 2 * span, change=change, plan=self.plan)
        yield EpochCommand(2, 4 * span)
        yield EpochCommand(3, 5 * span, change=WorkloadChange())
        yield EpochCommand(4, 6 * span, last=True)


def received(value: Value) -> Value:
    """As it comes out of Ray's object store: its arrays are read-only. Numba compiles functions of
    their own for such arrays."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    copy: Value = pickle.loads(data, buffers=[bytes(each.raw()) for each in buffers])
    return copy


def _span(workload: Workload) -> int:
    """The time from one epoch to the next: every window that is open has ended after two."""
    lengths = [query.window.within for query in workload if not query.window.counted]
    return 2 * max(lengths, default=HOUR)


def _portions(bound_workload: BoundWorkload, command: EpochCommand, span: int) -> list[Portion]:
    assert command.watermark is not None
    events = _made_up_events(bound_workload, command.watermark, span)
    routing = bound_workload.routing(SHARDS, 1)
    shards = [(np.arange(events.num_rows) % SHARDS).astype(np.int16)] * len(routing.routes)
    (portions,) = BlockRouter(routing, None).route([block_of(events, shards, routing.pane)])
    return received(portions)


def _made_up_events(bound_workload: BoundWorkload, until: int, span: int) -> pa.RecordBatch:
    """Events of all types in the `span` before the time `until`, some at the same time. They are
    in order in every other span: what is sorted is copied, and no longer read-only."""
    workload, random = bound_workload.workload, np.random.default_rng(until)
    schema = bound_workload.input_format.preparer(workload.uses).schema
    bunch = np.repeat(np.arange(BUNCHES) * (span // BUNCHES), BUNCH)
    times = (
        until - span + bunch + np.sort(random.integers(0, BUNCH, (BUNCHES, BUNCH)), axis=1).ravel()
    )
    if until // span % 2:
        random.shuffle(times)
    types = sorted(frozenset[str]().union(*(query.types for query in workload)))
    columns = {
        TIME: pa.array(times),
        TYPE: encoded_text(pa.array(random.choice(types, EVENTS).tolist())),
    }
    for field in schema:
        if field.name not in columns:
            missing = random.random(EVENTS) < (0.0 if field.name in workload.keys else 0.1)
            columns[field.name] = _values(field.type, random.integers(0, VALUES, EVENTS), missing)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _values(type_: pa.DataType, numbers: Ints, missing: Mask) -> pa.Array:
    """Some values of any type of attribute."""
    found = pa.array(numbers, mask=missing)
    for step in (pa.int64(), pa.int32(), pa.string()):
        with suppress(pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return found.cast(step).cast(type_)
    return pa.nulls(len(numbers), type_)
