"""Writes results to a folder of result files per query: Parquet, JSON lines or CSV.

A result file has the results of one or more epochs, and the number of the last one in its name. It
appears complete or not at all, and never changes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import HamletError, os_failure
from runtime.io.atomic import AtomicFiles, check_folder, remove_unfinished
from runtime.io.encode import SUFFIXES, check_format, encode_all, encoder
from runtime.io.file_names import FileNames
from runtime.io.growing_table import GrowingTable
from runtime.pipeline.epoch_record import Results
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.sinks.sink import EpochSink, PendingResults, ReplayPoint

# Tables larger than this are spooled to disk while a result file is put together.
LIMIT_BYTES = 8 << 20

_RESULT_FILE = re.compile(r"part-(\d{9})\.\w+$")


@dataclass(frozen=True)
class RollingPolicy:
    """When a result file is written: once the results that wait have this size or this age."""

    bytes: int = 128 << 20
    seconds: float = 10.0


class WholeSink(EpochSink):
    """Keeps the results of a bounded input in the checkpoint, to be written together at the
    end."""

    address = ""

    def is_due(self, pending: PendingResults) -> bool:
        return False

    def publish(self, epoch: int, results: Iterable[Results], replay: ReplayPoint | None) -> None:
        raise AssertionError("results of a bounded input are written at the end")


class FileSink(EpochSink):
    def __init__(
        self,
        output: Path,
        format: str,
        queries: Iterable[str] = (),
        rolling: RollingPolicy | None = None,
        folders: Mapping[str, str] | None = None,
    ) -> None:
        """`folders` are those that earlier runs of the job chose for queries."""
        self._output = check_folder(output)
        self._format = check_format(format)
        self._rolling = rolling or RollingPolicy()
        self._names = FileNames(folders)
        self._names.of(queries)

    @property
    def address(self) -> str:
        return files_address(self._output, self._format)

    def folders(self, queries: Iterable[str]) -> dict[str, str]:
        return self._names.of(queries)

    def is_due(self, pending: PendingResults) -> bool:
        rolling = self._rolling
        full = pending.bytes >= rolling.bytes or pending.seconds >= rolling.seconds
        return full or pending.final

    def publish(self, epoch: int, results: Iterable[Results], replay: ReplayPoint | None) -> None:
        files = AtomicFiles()
        with ExitStack() as stack:
            stack.callback(files.discard)
            for name, table in _gathered(stack, results).items():
                with files.open(self._output / self._name(epoch, name)) as file:
                    encode_all(table.batches(), encoder(self._format, file, table.schema))
            files.publish()

    def recover(self, committed: int) -> None:
        check_result_files(self._output, lambda: committed)
        remove_unfinished(self._output)

    def _name(self, epoch: int, table: str) -> str:
        return f"{self._folder(table)}/part-{epoch:09d}{SUFFIXES[self._format]}"

    def _folder(self, name: str) -> str:
        if name in (DEAD_LETTER, LATE):
            return name
        return self._names[name] + SUFFIXES[self._format]


def files_address(output: Path, format: str) -> str:
    return f"--output {shlex.quote(str(output.resolve()))} --format {format}"


def check_result_files(output: Path, committed: Callable[[], int]) -> None:
    """Refuses a folder with result files that the checkpoint does not know. Looks at the files
    first: a run that is still active may commit and publish meanwhile."""
    newest = _newest_file(output)
    last = committed()
    if newest is None or _epoch(newest) <= last:
        return
    if last < 0:
        raise HamletError(
            f"{output} holds results of another run, such as {newest.name}",
            "use the --checkpoint of that run, or name another --output",
        )
    raise HamletError(
        f"{output} has results up to epoch {_epoch(newest)}, but the checkpoint ends with epoch "
        f"{last}",
        "use the --checkpoint of that run, or name another --output. If the checkpoint is "
        f"an older copy, and all input after it is still there, delete the result files above "
        f"{last}",
    )


def _gathered(stack: ExitStack, results: Iterable[Results]) -> dict[str, GrowingTable]:
    """The rows of all epochs, by query."""
    found: dict[str, GrowingTable] = {}
    for tables in results:
        for name, table in tables.items():
            if name not in found:
                found[name] = GrowingTable(LIMIT_BYTES)
                stack.callback(found[name].close)
            found[name].add(table)
    return found


def _newest_file(output: Path) -> Path | None:
    files = (path for path in output.glob("*/part-*") if _RESULT_FILE.search(path.name))
    try:
        return max(files, key=_epoch, default=None)
    except OSError as error:
        raise os_failure(f"cannot list {output}", error) from error


def _epoch(file: Path) -> int:
    found = _RESULT_FILE.search(file.name)
    assert found is not None
    return int(found[1])
