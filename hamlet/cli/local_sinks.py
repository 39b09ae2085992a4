"""Opens what a run in one process writes to: results, invalid rows, late rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa

from hamlet.cli.enums import OutputFormat
from hamlet.cli.table_sink import TableSink
from hamlet.local_runner import ResultSink
from runtime.errors import InputError
from runtime.io.side_output import SideWriter
from runtime.io.write import ResultWriter
from runtime.language.query import Workload
from runtime.types.side_tables import DEAD_LETTER, LATE


def open_sink(
    stack: ExitStack, queries: Workload, output: Path | None, format: OutputFormat, limit: int
) -> ResultSink:
    if format is OutputFormat.TABLE:
        tables = TableSink(queries, limit)
        stack.push(lambda kind, error, trace: tables.close() if error is None else None)
        return tables
    if format is OutputFormat.PARQUET and output is None and len(queries) > 1:
        message = f"standard output takes one query as Parquet, and there are {len(queries)}"
        raise InputError(message, "name a folder with --output")
    return stack.enter_context(ResultWriter(output, format.value))


def open_dead(
    stack: ExitStack, output: Path | None, format: OutputFormat
) -> Callable[[pa.Table], None]:
    """Without an output folder, invalid rows are only counted."""
    return _open_side_output(stack, output, format, DEAD_LETTER)


def open_late(
    stack: ExitStack, output: Path | None, format: OutputFormat
) -> Callable[[pa.Table], None]:
    return _open_side_output(stack, output, format, LATE)


def _open_side_output(
    stack: ExitStack, output: Path | None, format: OutputFormat, name: str
) -> Callable[[pa.Table], None]:
    if output is None:
        return lambda rows: None
    return stack.enter_context(SideWriter(output, name, format.value)).write
