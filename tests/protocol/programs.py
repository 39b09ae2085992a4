"""What a run does to the world: with the product's classes, and in the order of an old version.

The old order staged results under a name without an owner, looked for another owner before it
wrote the manifest and not after, and deleted result files that its manifest did not know.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from hamlet.job.epoch import Epoch
from hamlet.job.epoch_commit import EpochCommitter
from hamlet.job.epoch_reader import EpochRows
from pipeline.records import WORKLOAD, manifest_of
from protocol.explore import Run
from protocol.points import PointedStore
from protocol.shared_world import ModelClock
from protocol.world import Do, ModelStore, Replay
from runtime.errors import HamletError
from runtime.pipeline.aggregation import EpochCommand, EpochResult
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.checkpoint_names import is_higher
from runtime.pipeline.epoch_record import Results
from runtime.pipeline.lease import LEASE_SECONDS, Lease, await_end_of_leases
from runtime.pipeline.manifest import Manifest
from runtime.pipeline.settings import Settings
from runtime.pipeline.shard import ShardStatistics
from runtime.pipeline.state_segments import SavedUnit, SegmentWriter
from spark_ingest.sinks.sink import EpochSink, PendingResults, ReplayPoint
from spark_ingest.sources.source import SourceRange

UNIT = ((), 0)
INPUT_FORMAT = manifest_of(0).input_format


# ---- as it is ------------------------------------------------------------------------------


class ModelSink(EpochSink):
    """Writes to one of the world's outputs: like `FileSink`, it renames one file after the other.
    Results wait in every other epoch."""

    address = ""

    def __init__(self, do: Do, output: str) -> None:
        self._do = do
        self.address = output

    def is_due(self, pending: PendingResults) -> bool:
        return pending.final or pending.bytes > 16

    def publish(self, epoch: int, results: Iterable[Results], replay: ReplayPoint | None) -> None:
        found: dict[str, list[tuple[int, int]]] = {}
        for tables in results:
            for name, table in tables.items():
                rows = [(row["row"], row["sum"]) for row in table.to_pylist()]
                found.setdefault(name, []).extend(rows)
        for name, rows in sorted(found.items()):
            self._do("publish", value=((self.address, epoch, name), tuple(rows)))

    def recover(self, committed: int) -> None:
        if any(epoch > committed for epoch in self._do("parts", value=self.address)):
            raise HamletError("the output has results that the checkpoint does not know")


def one_copy(do: Replay, run: Run, rows: int) -> None:
    """With one copy of each file, there are fewer steps to put in order."""
    _current(do, run, rows, durable=False)


def two_copies(do: Replay, run: Run, rows: int) -> None:
    _current(do, run, rows, durable=True)


class PublishingAlways(EpochCommitter):
    """Publishes the last epoch at every start, into whatever sink it is given."""

    def publish_again(self, committed: Manifest) -> None:
        if committed.publishes:
            self._publish(committed)


def always_publishing(do: Replay, run: Run, rows: int) -> None:
    _current(do, run, rows, durable=False, committer_of=PublishingAlways)


def _current(
    do: Replay,
    run: Run,
    rows: int,
    durable: bool,
    committer_of: type[EpochCommitter] = EpochCommitter,
) -> None:
    checkpoints = PointedStore(do, ModelStore(do, durable), run.name)
    run_job(do, run, rows, checkpoints, ModelSink(do, run.output), committer_of)


def shared(do: Replay, run: Run, rows: int) -> None:
    """On a store that machines share."""
    _on_shared_store(do, run, rows, PointedStore)


def _on_shared_store(do: Replay, run: Run, rows: int, kind: type[PointedStore]) -> None:
    clock = ModelClock(do)
    store = ModelStore(clock.do, durable=False, shared=True)
    checkpoints = kind(clock.do, store, run.name, lease_clock=clock)
    try:
        checkpoints.last()
        run_job(clock.do, run, rows, checkpoints, ModelSink(clock.do, run.output))
    except HamletError:
        checkpoints.close()
        raise
    checkpoints.close()


def run_job(
    do: Do,
    run: Run,
    rows: int,
    checkpoints: PointedStore,
    sink: EpochSink,
    committer_of: type[EpochCommitter] = EpochCommitter,
) -> None:
    """The steps of `hamlet.job.job_setup` and `hamlet.job.driver`, without processes."""
    committed = checkpoints.claim(lambda what: None)
    sink.recover(-1 if committed is None else committed.epoch)
    context: Any = SimpleNamespace(
        checkpoints=checkpoints,
        sink=sink,
        source=SimpleNamespace(name="input"),
        settings=Settings(),
        shards=1,
        given={},
    )
    committer = committer_of(context)
    checkpoints.point("claimed")
    if committed is not None:
        committer.publish_again(committed)
    while committed is None or not committed.finished:
        waits = committer._waiting_since is not None
        checkpoints.point("next epoch", waits, committed and committed.to_bytes())
        committed = _epoch(do, checkpoints, committer, committed, run.rows_each, rows)
        do("report", value=committed.position["at"])


def _epoch(
    do: Do,
    checkpoints: CheckpointStore,
    committer: EpochCommitter,
    committed: Manifest | None,
    rows_each: int,
    rows: int,
) -> Manifest:
    number, start, total = 0, 0, 0
    if committed is not None:
        number, start = committed.epoch + 1, committed.position["at"]
        segment = committed.units[UNIT].snapshot
        assert segment is not None
        total = int(segment.read(checkpoints.files).to_pybytes())
    end = min(start + rows_each, rows)
    table, total = _computed(do("input", value=(start, end)), total)
    writer = SegmentWriter(f"state/{number:09d}-{checkpoints.files_name(0)}-snapshot.state", number)
    saved = {UNIT: SavedUnit(writer.add(pa.py_buffer(str(total).encode()), None))}
    writer.write(checkpoints.files)
    workload: Any = SimpleNamespace(
        tables=lambda partials: _by_query(table), workload=WORKLOAD, input_format=INPUT_FORMAT
    )
    epoch = Epoch(
        EpochCommand(number, last=end == rows),
        EpochRows(SourceRange({"at": start}, {"at": end})),
        workload,
        {},
        final=end == rows,
    )
    answer = EpochResult(number, [], saved, ShardStatistics())
    return committer.commit(epoch, [answer], committed).manifest


def _by_query(table: pa.Table) -> dict[str, pa.Table]:
    """The first row is of one query and the others of another one."""
    first = 1 if table.num_rows and table["row"][0].as_py() == 0 else 0
    return {"p": table.slice(0, first), "q": table.slice(first)}


def _computed(rows: Iterable[int], total: int) -> tuple[pa.Table, int]:
    sums = []
    for row in rows:
        total += row
        sums.append({"row": row, "sum": total})
    schema = pa.schema([("row", pa.int64()), ("sum", pa.int64())])
    return pa.Table.from_pylist(sums, schema), total


# ---- as it was -----------------------------------------------------------------------------


def former(do: Replay, run: Run, rows: int) -> None:
    _former(do, run, rows)


class RevivingLease(Lease):
    """One that ran out was valid again once its thread had renewed it."""

    def _run(self) -> None:
        while not self._clock.wait(self._stopped, LEASE_SECONDS / 3):
            self._renew()

    def _has_run_out(self) -> bool:
        return self._clock.boottime() - self._renewed >= LEASE_SECONDS

    def _renew(self) -> None:
        began = self._clock.boottime()
        super()._renew()
        self._renewed = began


class WithRevivingLease(PointedStore):
    def _new_lease(self) -> Lease:
        return RevivingLease(self.store, self.owner, clock=self._lease_clock)


def with_a_reviving_lease(do: Replay, run: Run, rows: int) -> None:
    _on_shared_store(do, run, rows, WithRevivingLease)


class WithoutSecondLook(PointedStore):
    """After its claim, a run looked for other claims and waited for their leases, and then went on
    from the records that it knew."""

    def _await_missed(self, awaited: set[str], say: Callable[[str], None]) -> None:
        self.files.refresh("epochs")
        missed = {each for each in self._claims() - awaited if is_higher(self.owner, each)}
        await_end_of_leases(self.store, missed, say, clock=self._lease_clock)


def without_a_second_look(do: Replay, run: Run, rows: int) -> None:
    _on_shared_store(do, run, rows, WithoutSecondLook)


class WithoutRefresh(PointedStore):
    """A claim alone brings the listing of claims up to date, and not that of records."""

    def __init__(self, do: Do, store: ModelStore, run: str, **options: Any) -> None:
        super().__init__(do, store, run, **options)
        self.files.refresh = lambda folder: None  # type: ignore[method-assign]


def without_refresh(do: Replay, run: Run, rows: int) -> None:
    _on_shared_store(do, run, rows, WithoutRefresh)


def former_with_staging_alone(do: Replay, run: Run, rows: int) -> None:
    """Parts stay, and only the owner writes a manifest. What is left of the old order is that a run
    stages results without knowing whether it is still the owner."""
    _former(do, run, rows, staging_alone=True)


def _former(do: Replay, run: Run, rows: int, staging_alone: bool = False) -> None:
    store = ModelStore(do)
    store.write("owner.json", json.dumps(run.name).encode())
    committed = _last(store)
    _recover(do, store, -1 if committed is None else committed["epoch"], not staging_alone)
    while committed is None or committed["at"] < rows:
        number, start, total = (
            (0, 0, 0)
            if committed is None
            else (committed["epoch"] + 1, committed["at"], committed["sum"])
        )
        end = min(start + run.rows_each, rows)
        table, total = _computed(do("input", value=(start, end)), total)
        found = tuple((row["row"], row["sum"]) for row in table.to_pylist())
        store.write(f"results/{number}", json.dumps(found).encode())
        if _json(store, "owner.json") != run.name:
            raise HamletError("another run has taken over")
        committed = {"epoch": number, "at": end, "sum": total}
        written = json.dumps(committed).encode()
        if not staging_alone:
            store.write(f"epochs/{number}", written)
        elif not do("write of owner", f"epochs/{number}", (json.dumps(run.name).encode(), written)):
            raise HamletError("another run has taken over")
        if number > 1:
            store.delete(f"epochs/{number - 2}")
        do("publish", value=(("x", number, "q"), found))
        store.delete(f"results/{number}")
        do("report", value=end)


def _last(store: ModelStore) -> dict[str, int] | None:
    names = store.names("epochs")
    return _json(store, names[-1]) if names else None


def _json(store: ModelStore, name: str) -> Any:
    try:
        return json.loads(store.read(name).to_pybytes())
    except FileNotFoundError:  # deleted by the other run
        raise HamletError(f"{name} is gone") from None


def _recover(do: Replay, store: ModelStore, committed: int, unpublishes: bool) -> None:
    for epoch in do("parts", value="x"):
        if epoch > committed and unpublishes:
            do("unpublish", value=epoch)
    for name in store.names("results"):
        epoch = int(name.rpartition("/")[2])
        if epoch > committed:
            store.delete(name)
            continue
        rows = _json(store, name)
        do("publish", value=(("x", epoch, "q"), tuple(tuple(row) for row in rows)))
        store.delete(name)
