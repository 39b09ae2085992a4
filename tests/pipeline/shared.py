"""A stream in epochs through shards of several owners, who die and are replaced in between."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from engine.judge import parsed, settings_of
from engine.lives import ALWAYS, Life, Tables, in_order
from oracle.random_cases import Case
from pipeline.blocks import exported
from runtime.execution.partials import combine
from runtime.language.query import Workload
from runtime.pipeline.aggregation import (
    Aggregation,
    EpochCommand,
    EpochResult,
    Unit,
    WorkloadChange,
)
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.router import BlockRouter
from runtime.pipeline.routing_table import InputFormat, RoutingTable
from runtime.pipeline.settings import Settings
from runtime.pipeline.state_segments import SavedUnit


@dataclass
class Cluster:
    """What a driver does, with owners in this process."""

    settings: Settings
    input_format: InputFormat
    workload: Workload
    shards: int
    owners: int
    folder: CheckpointFiles
    epoch: int = -1
    version: int = 0
    watermark: int | None = None
    since: dict[str, int] = field(default_factory=dict)
    saved: dict[Unit, SavedUnit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.begin(self.owners)

    def begin(self, owners: int) -> None:
        """With other owners, from what was saved."""
        self.owners = owners
        self.routing = RoutingTable.of(
            self.workload, self.input_format, self.shards, owners, self.version
        )
        self.all = [self._owner(n) for n in range(owners)]

    def _owner(self, number: int) -> Aggregation:
        owner = Aggregation(
            self.settings,
            self.input_format,
            self.workload,
            self.routing.owned(number),
            self.folder,
            since=self.since,
            name=f"{number}-{self.version}",
            last_epoch=self.epoch,
        )
        owner.restore(self.saved, self.watermark)
        return owner

    def take(
        self,
        rows: pa.Table,
        watermark: int | None,
        *,
        last: bool = False,
        change: WorkloadChange | None = None,
        cuts: int = 2,
    ) -> dict[str, pa.Table]:
        if change is not None:
            for name in change.removed:
                self.workload = self.workload.without_query(name)
            self.workload = self.workload.with_queries(change.added)
            if change.since is not None:
                self.since |= {query.name: change.since for query in change.added}
            self.version += 1
            self.routing = RoutingTable.of(
                self.workload, self.input_format, self.shards, self.owners, self.version
            )
        step = max(1, -(-rows.num_rows // cuts))
        portions = []
        # Each batch as if it were a task of its own.
        for batch in rows.combine_chunks().to_batches(max_chunksize=step):
            router = BlockRouter(self.routing, self.watermark)
            portions.append(router.route([exported(batch, self.routing)]))
        self.watermark = watermark
        order = EpochCommand(self.epoch + 1, watermark, last, change, None, self.epoch)
        answers = [
            owner.compute_epoch(order, [p for portion in portions for p in portion[n]])
            for n, owner in enumerate(self.all)
        ]
        self.epoch += 1
        self.saved = {unit: s for answer in answers for unit, s in answer.saved.items()}
        return self.results(answers)

    def results(self, answers: list[EpochResult]) -> dict[str, pa.Table]:
        types = {f.name: f.type for f in self.input_format.preparer(self.workload.uses).schema}
        partials = [each for answer in answers for each in answer.partials]
        tables = combine(partials, self.workload, types, self.input_format.result_clock())
        return {name: table for name, table in tables.items() if table.num_rows}


def lived_in_shards(
    case: Case, life: Life, options: Mapping[str, str], folder: Path, owners: tuple[int, ...]
) -> dict[str, pa.Table]:
    """As `engine.lives.lived`, with so many owners from restart to restart."""
    whole = workload = parsed(case.text)
    for n, query in enumerate(case.queries):
        if life.joining(n) != ALWAYS:
            workload = workload.without_query(query.name)
    table, tables = in_order(case), Tables()
    given = settings_of(case, options)
    cluster = Cluster(
        Settings(given["numeric"], given["ties"], given.get("sharing", "dynamic")),
        InputFormat(time_unit="us", columns=table.schema),
        workload,
        shards=5,
        owners=owners[0],
        folder=CheckpointFiles(BlobStore(str(folder))),
    )
    borders, change = life.borders(table.num_rows), None
    for cut, (start, stop) in enumerate(pairwise(borders)):
        piece = table.slice(start, stop - start)
        last = cut == len(life.cuts)
        reached = piece["time"][-1].as_py() if piece.num_rows else cluster.watermark
        tables.collect(cluster.take(piece, reached, last=last, change=change))
        if last:
            break
        if life.ahead and stop < table.num_rows:
            ahead = table["time"][stop].as_py()
            tables.collect(cluster.take(table.slice(0, 0), ahead))
        change = _change(case, life, cut, whole, table, stop)
        if life.restart:
            cluster.begin(owners[cut % len(owners)])
    return tables.joined()


def _change(
    case: Case, life: Life, cut: int, whole: Workload, table: pa.Table, stop: int
) -> WorkloadChange | None:
    added = [q.name for n, q in enumerate(case.queries) if life.joining(n) == cut]
    gone = [q.name for n, q in enumerate(case.queries) if life.leaving(n) == cut]
    if not added and not gone:
        return None
    since = table["time"][stop - 1].as_py() + 1 if stop else None
    return WorkloadChange(tuple(whole[name] for name in added), tuple(gone), since)
