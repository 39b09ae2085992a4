"""`hamlet.stream`: a job over a streaming frame of Spark, in a thread of this process."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from hamlet.frame_job import SPARK, FrameOptions, LogScreen, hands_over, joined
from hamlet.frames import check_frame
from hamlet.job.epoch_commit import check_sink, is_unpublished
from hamlet.job.job_options import JobOptions
from hamlet.job.job_run import OpenJob, open_job
from hamlet.job.resolved_input import InputOptions
from hamlet.job.stream_frame_input import NAME, StreamFrameInput
from runtime.errors import HamletError, InputError
from runtime.io.atomic import check_folder
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.language.query import Workload
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.epoch_record import Results
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.arrow_import import spark_frame
from spark_ingest.sinks.file_sink import FileSink, check_result_files, files_address
from spark_ingest.sinks.sink import EpochSink, ReplayPoint
from spark_ingest.sources.streaming_frame import Trigger

logger = logging.getLogger("hamlet")
# A job that is still running when the process ends has this long to finish its epochs.
EXIT_SECONDS = 30.0


class EpochTables(dict[str, Any]):
    """The results of an epoch, of the queries that have some, by name; its late rows, and its rows
    that are not events, with their reasons. All are Arrow tables or all are frames of Spark."""

    def __init__(self, tables: dict[str, Any], late: Any, dead_letters: Any) -> None:
        super().__init__(tables)
        self.late = late
        self.dead_letters = dead_letters


#: Is called with the number of an epoch and what it gave.
Each = Callable[[int, EpochTables], object]


def stream(
    workload: Workload | str,
    frame: DataFrame,
    *,
    checkpoint: str | None = None,
    output: str | Path | None = None,
    each: Each | None = None,
    lateness: int = 0,
    trigger: Trigger | None = None,
    name: str = "hamlet",
    **options: Any,
) -> StreamingJob:
    """Follows a streaming frame until it is stopped. Results go into files in the folder `output`,
    or to the function `each`, once for every epoch that has some.

    After a failure, `each` is called again with the same number and the same results, if it may not
    have returned. `lateness` is in microseconds, `trigger` as in Spark. The other options are those
    of `aggregate` over a frame. Call it in a thread that lives as long as the job: if it starts
    Ray, Ray ends with the thread."""
    check_frame(frame)
    queries = parse(workload) if isinstance(workload, str) else workload
    chosen = FrameOptions(checkpoint=checkpoint, lateness=lateness, **options)
    spark = frame.sparkSession
    blocks = hands_over(spark, stacklevel=3)
    needs = ReadRequest(chosen.time_column, chosen.type_column, queries.uses)
    screen = LogScreen()
    described = InputOptions(
        NAME, needs, follow=True, unit=chosen.time_unit, wait=screen.say, warn=screen.warn
    )
    job_options = JobOptions(
        name=name,
        actors=chosen.actors,
        checkpoint=checkpoint,
        lateness=lateness,
        blocks=blocks,
        settings=chosen.settings,
        log=None if output is None else Path(output),
    )
    input = StreamFrameInput(described, frame, trigger)
    return StreamingJob(
        queries, job_options, input, _output(output, each, spark, chosen.results), screen
    )


class StreamingJob:
    """A job that runs until its frame ends, it fails, or it is stopped."""

    def __init__(
        self,
        workload: Workload,
        options: JobOptions,
        input: StreamFrameInput,
        output: Output,
        screen: LogScreen,
    ) -> None:
        self._failure: BaseException | None = None
        self._stop = threading.Event()
        with ExitStack() as stack:
            job = open_job(
                stack,
                workload,
                options,
                input,
                output.open,
                screen,
                lambda: self._stop.is_set() or input.exhausted,
                output.check,
            )
            self._stack = stack.pop_all()
        self._thread = threading.Thread(
            target=self._run, args=(job,), name=f"job {options.name}", daemon=True
        )
        self._thread.start()
        atexit.register(self._stop_at_exit)

    @property
    def active(self) -> bool:
        return self._thread.is_alive()

    @property
    def failure(self) -> BaseException | None:
        """The error that ended the job."""
        return self._failure

    def stop(self, wait: bool = True) -> None:
        """Finishes the epochs under way. Windows stay open: the next run with the same checkpoint
        goes on. In the function `each`, stop without waiting: the job waits for the function."""
        self._stop.set()
        if wait:
            self.wait()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until the job has ended, at most so long. Returns whether it has; raises what made
        it fail."""
        self._thread.join(seconds)
        if self._failure is not None and not self.active:
            raise self._failure
        return not self.active

    def __enter__(self) -> StreamingJob:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, job: OpenJob) -> None:
        try:
            with self._stack:
                job.drive()
        except BaseException as error:
            self._failure = error
            logger.error("the job failed: %s", error)
        finally:
            atexit.unregister(self._stop_at_exit)

    def _stop_at_exit(self) -> None:
        self._stop.set()
        self._thread.join(EXIT_SECONDS)


# ---- where results go ----------------------------------------------------------------------


@dataclass(frozen=True)
class FolderOutput:
    folder: Path
    format: str = "parquet"

    def check(self, checkpoints: CheckpointStore) -> None:
        check_folder(self.folder)
        check_result_files(self.folder, checkpoints.last_epoch)
        _check_unpublished(checkpoints, files_address(self.folder, self.format))

    def open(self, checkpoints: CheckpointStore, bound_workload: BoundWorkload) -> EpochSink:
        names = [query.name for query in bound_workload.workload]
        return FileSink(self.folder, self.format, names, folders=checkpoints.folders)


class FunctionSink(EpochSink):
    """Calls a function with the results of each epoch. Only its caller knows whether a call that
    did not return has had an effect, so it is repeated, with the same epoch and results."""

    address = "a function `each`"

    def __init__(self, each: Each, spark: SparkSession | None) -> None:
        """With a session, the function gets frames of it."""
        self._each, self._spark = each, spark

    def publish(self, epoch: int, results: Iterable[Results], replay: ReplayPoint | None) -> None:
        found = joined(results)
        tables = {name: self._given(table) for name, table in found.items() if table.num_rows}
        late, dead = tables.pop(LATE, None), tables.pop(DEAD_LETTER, None)
        late = self._given(no_dead()) if late is None else late
        dead = self._given(no_dead()) if dead is None else dead
        self._each(epoch, EpochTables(tables, late, dead))

    def _given(self, table: pa.Table) -> Any:
        return table if self._spark is None else spark_frame(self._spark, table)


@dataclass(frozen=True)
class FunctionOutput:
    each: Each
    spark: SparkSession | None

    def check(self, checkpoints: CheckpointStore) -> None:
        _check_unpublished(checkpoints, FunctionSink.address)

    def open(self, checkpoints: CheckpointStore, bound_workload: BoundWorkload) -> EpochSink:
        return FunctionSink(self.each, self.spark)


Output = FolderOutput | FunctionOutput


def _output(
    folder: str | Path | None, each: Each | None, spark: SparkSession, results: str
) -> Output:
    if (folder is None) == (each is None):
        raise HamletError(
            "results need one place to go", "give either output= (a folder) or each= (a function)"
        )
    if each is not None:
        return FunctionOutput(each, spark if results == SPARK else None)
    if "://" in str(folder):
        raise InputError(f"output {folder} is not a folder", "send results on in each=")
    return FolderOutput(Path(str(folder)))


def _check_unpublished(checkpoints: CheckpointStore, address: str) -> None:
    last = checkpoints.last()
    if last is not None and is_unpublished(last, checkpoints):
        check_sink(last, address)
