"""Prints the results of a followed input, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from hamlet.cli.enums import OutputFormat
from hamlet.cli.table_sink import TableSink
from runtime.io.write import ResultWriter
from runtime.language.query import Workload
from runtime.pipeline.epoch_record import Results
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.sinks.sink import EpochSink, ReplayPoint

PRINTED = (OutputFormat.TABLE, OutputFormat.JSON)


class ConsoleSink(EpochSink):
    """Prints an epoch after it is committed. If the job crashes in between, the rows of that epoch
    are never printed: nobody knows whether they were."""

    address = ""

    def __init__(
        self, workload: Workload, format: OutputFormat, limit: int, live: bool = False
    ) -> None:
        """`live`: a screen shows results as they arrive; the last ones are printed at the end."""
        self._workload = workload
        self._format = format
        self._limit = limit
        self._live = live and format is OutputFormat.TABLE
        self._last: dict[str, pa.Table] = {}
        self._printed = -1

    def publish(self, epoch: int, results: Iterable[Results], replay: ReplayPoint | None) -> None:
        if epoch <= self._printed:
            return
        self._printed = epoch
        for tables in results:
            shown = {n: each for n, each in tables.items() if n not in (DEAD_LETTER, LATE)}
            if shown:
                self._show(shown)

    def _show(self, tables: Mapping[str, pa.Table]) -> None:
        if self._live:
            self._keep(tables)
        elif self._format is OutputFormat.JSON:
            with ResultWriter(None, "json") as writer:
                writer.write(dict(tables))
        else:
            self._print(tables)

    def recover(self, committed: int) -> None:
        self._printed = committed

    def print_last(self) -> None:
        """Called once the screen is closed."""
        if self._last:
            self._print(self._last)

    def _keep(self, tables: Mapping[str, pa.Table]) -> None:
        """The newest rows of each query."""
        for name, table in tables.items():
            both = [self._last[name], table] if name in self._last else [table]
            joined = pa.concat_tables(both, promote_options="default")
            last = max(0, joined.num_rows - self._limit) if self._limit else 0
            self._last[name] = joined.slice(last)

    def _print(self, tables: Mapping[str, pa.Table]) -> None:
        sink = TableSink(self._workload, self._limit)
        sink.write(dict(tables))
        sink.close()
