"""Results of a stream without an end, printed as they come."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from hamlet.cli.choices import OutputFormat
from hamlet.cli.tables import TableSink
from runtime.errors import InputError
from runtime.files import ResultWriter
from runtime.language.query import Workload
from spark_ingest.sinks.sink import DEAD_LETTER, LATE, Sink


class ConsoleSink(Sink):
    """Prints an epoch when it is committed. What was printed cannot be taken back: after a crash
    the rows of the last epoch may come again."""

    def __init__(self, workload: Workload, format: OutputFormat, limit: int) -> None:
        if format not in (OutputFormat.TABLE, OutputFormat.JSON):
            raise InputError(
                f"a stream without an end is not printed as {format.value}",
                "--format json or table, or name an --output",
            )
        self._workload = workload
        self._format = format
        self._limit = limit
        self._staged: dict[int, Mapping[str, pa.Table]] = {}

    def stage(self, epoch: int, tables: Mapping[str, pa.Table]) -> None:
        beside = (DEAD_LETTER, LATE)
        self._staged[epoch] = {name: each for name, each in tables.items() if name not in beside}

    def publish(self, epoch: int) -> None:
        tables = self._staged.pop(epoch, {})
        if not tables:
            return
        if self._format is OutputFormat.JSON:
            with ResultWriter(None, "json") as writer:
                writer.write(tables)
        else:
            sink = TableSink(self._workload, self._limit)
            sink.write(dict(tables))
            sink.close()

    def recover(self, committed: int) -> None:
        """Nothing is kept from run to run."""
