"""Rehearses changes, then makes them over a generated stream. Prints what that loaded in addition.

Numba loads or compiles a function for the types of its arguments when it is first called with them.
"""

import gc
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

from pipeline.blocks import exported
from runtime.generate import generate
from runtime.language.parser import parse
from runtime.pipeline.aggregation import Aggregation, EpochCommand, WorkloadChange
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.rehearsal import Rehearsal, received
from runtime.pipeline.router import BlockRouter
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings

EPOCH_ROWS, SHARDS = 8_000, 4
ADDED = """
QUERY same_part RETURN district, COUNT(*) AS n PATTERN SEQ(Accept A, Travel T+, Dropoff D)
WHERE [driver, rider] GROUP-BY district WITHIN 20 seconds

QUERY other_part RETURN district, COUNT(*) AS n PATTERN SEQ(Pickup P+, Dropoff D)
WHERE [driver, rider] GROUP-BY district WITHIN 20 seconds

QUERY other_group RETURN driver, COUNT(*) AS n, MAX(T.speed) AS most
PATTERN SEQ(Request R, Travel T+) WHERE [driver] GROUP-BY driver WITHIN 20 seconds

QUERY adjacent RETURN district, COUNT(*) AS n PATTERN SEQ(Accept A, Travel T+, Dropoff D)
WHERE [driver, rider] AND T.speed < NEXT(T).speed GROUP-BY district WITHIN 20 seconds

QUERY next_match RETURN district, COUNT(*) AS n PATTERN SEQ(Pickup P, Travel T+, Dropoff D)
SEMANTICS skip-till-next-match WHERE [driver, rider] GROUP-BY district WITHIN 20 seconds

QUERY sliding RETURN district, COUNT(*) AS n PATTERN SEQ(Request R, Travel T+, Dropoff D)
WHERE [driver, rider] GROUP-BY district WITHIN 30 seconds SLIDE 10 seconds
"""


def loaded() -> set[str]:
    """The functions that Python calls, with the types of their arguments."""
    return {
        f"{each.__module__}.{each.__qualname__}{signature}"
        for each in gc.get_objects()
        if isinstance(each, CPUDispatcher) and not isinstance(each._cache, NullCache)
        for signature in each.overloads
    }


class Job:
    """Routes, computes and merges as a job does; arrays are those of Ray's object store."""

    def __init__(self, workload: str, folder: str) -> None:
        epochs = 3 * (2 + len(parse(ADDED)))
        rides = generate("ridesharing", events=EPOCH_ROWS * epochs, seed=1)
        self._stream = pa.Table.from_batches(rides).combine_chunks()
        self.input_format = InputFormat(columns=self._stream.schema)
        self.bound_workload = BoundWorkload(parse(workload), self.input_format, "float")
        self._aggregation = Aggregation(
            Settings(),
            self.input_format,
            self.bound_workload.workload,
            range(SHARDS),
            CheckpointFiles(BlobStore(folder)),
        )
        self._epoch = self.rows = 0

    def compute_epoch(self, change: WorkloadChange | None = None) -> None:
        if change is not None:
            self.bound_workload = self.bound_workload.with_changes(change.added, change.removed)
        part = self._stream.slice(self._epoch * EPOCH_ROWS, EPOCH_ROWS)
        routing = self.bound_workload.routing(SHARDS, 1)
        router = BlockRouter(routing, None)
        (portions,) = router.route([exported(part.to_batches()[0], routing)])
        newest = router.stats.newest
        if change is not None:
            change = replace(change, since=newest + 1)
        command = EpochCommand(self._epoch, newest, change=change, committed=self._epoch - 1)
        answer = self._aggregation.compute_epoch(command, received(portions))
        tables = self.bound_workload.tables(received(answer).partials)
        self.rows += sum(table.num_rows for table in tables.values())
        self._epoch += 1


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        job = Job(Path(sys.argv[1]).read_text(), folder)
        workload = job.bound_workload.workload
        for query in parse(ADDED):
            change = WorkloadChange((query,))
            Rehearsal(Settings(), job.input_format, workload, change, None).run()
            workload = workload.with_queries(change.added)
        # The extraction of events is not rehearsed: a running job has it.
        job.compute_epoch()
        rehearsed = loaded()
        job.compute_epoch()
        for query in parse(ADDED):
            job.compute_epoch(WorkloadChange((query,)))
            job.compute_epoch()
            job.compute_epoch()
    new = sorted(loaded() - rehearsed)
    print(json.dumps({"rehearsed": len(rehearsed), "rows": job.rows, "new": new}))


if __name__ == "__main__":
    main()
