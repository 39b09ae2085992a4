"""Writes results: a file per query in a folder, or all of them to standard output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from runtime.closable import Closable
from runtime.errors import InputError
from runtime.io.atomic import AtomicFiles, check_folder
from runtime.io.encode import SUFFIXES, CsvEncoder, JsonEncoder, check_format, encode_all, encoder
from runtime.io.file_names import FileNames
from runtime.io.growing_table import GrowingTable
from runtime.io.stdout import Stdout

LIMIT_BYTES = 8 << 20


class ResultWriter(Closable):
    """Collects results; `close` publishes them all at once, `abort` drops them.

    Only JSON on standard output is written immediately. Leaving a `with` closes, or aborts after
    an error. `broken` means that the reader of standard output has gone.
    """

    def __init__(
        self,
        output: Path | str | None,
        format: str = "parquet",
        stream: IO[bytes] | None = None,
        queries: Iterable[str] = (),
        limit: int = LIMIT_BYTES,
    ) -> None:
        self.format = check_format(format)
        self._output = None if output is None else check_folder(Path(output))
        self._stdout = Stdout(stream) if output is None else None
        self._limit = limit
        self._tables: dict[str, GrowingTable] = {}
        self._names = FileNames()
        if self._stdout and self.format == "parquet" and self._stdout.isatty():
            raise InputError("cannot write Parquet to a terminal", "give an --output or a --format")
        self._check_one([*queries])  # rejected early if known early

    @property
    def broken(self) -> bool:
        return self._stdout is not None and self._stdout.broken

    def write(self, results: Mapping[str, pa.Table]) -> None:
        for query, table in results.items():
            if self._stdout is not None and self.format == "json":
                self._write_json(query, table, self._stdout)
            else:
                self._table(query).add(table)

    def close(self) -> None:
        try:
            if self._output is not None:
                self._publish(self._output)
            if self._stdout is not None:
                self._print(self._stdout)
                self._stdout.flush()
        finally:
            self.abort()

    def abort(self) -> None:
        for table in self._tables.values():
            table.close()
        self._tables.clear()

    def _table(self, query: str) -> GrowingTable:
        if query not in self._tables:
            self._check_one([*self._tables, query])
            self._tables[query] = GrowingTable(self._limit)
        return self._tables[query]

    def _check_one(self, queries: list[str]) -> None:
        if self._stdout is not None and self.format == "parquet" and len(queries) > 1:
            two = f"`{queries[0]}` and `{queries[1]}`"
            what = f"standard output supports one query as Parquet, not {two}"
            raise InputError(what, "give a folder with --output")

    def _write_json(self, query: str, table: pa.Table, stdout: Stdout) -> None:
        for batch in table.to_batches(max_chunksize=65_536):
            tagged = _tagged(batch, query)
            JsonEncoder(stdout, tagged.schema).write(tagged)
        stdout.flush()

    def _publish(self, output: Path) -> None:
        files = AtomicFiles()
        try:
            for query, table in self._tables.items():
                name = self._names[query] + SUFFIXES[self.format]
                with files.open(output / name) as file:
                    encode_all(table.batches(), encoder(self.format, file, table.schema))
            files.publish()
        finally:
            files.discard()

    def _print(self, stdout: Stdout) -> None:
        """CSV: one table if all queries have the same columns, else a table for each."""
        if self.format == "parquet":
            for table in self._tables.values():
                encode_all(table.batches(), encoder(self.format, stdout, table.schema))
            return
        shared = self._common()
        for place, (query, table) in enumerate(self._tables.items()):
            if place and not shared:
                stdout.write(b"\n")
            schema = _tagged(table.schema.empty_table(), query).schema
            lines = CsvEncoder(stdout, schema, header=not (place and shared))
            encode_all((_tagged(batch, query) for batch in table.batches()), lines)

    def _common(self) -> bool:
        schemas = [table.schema for table in self._tables.values()]
        return all(schema.equals(schemas[0]) for schema in schemas)


def _tagged(rows: Any, query: str) -> Any:
    """The rows with the name of their query as the first column."""
    name = "query"
    while name in rows.schema.names:  # a query may group by an attribute of that name
        name = f"_{name}"
    tags = pa.repeat(pa.scalar(query), rows.num_rows)
    columns = [tags, *rows.columns]
    schema = pa.schema([pa.field(name, pa.string()), *rows.schema])
    return type(rows).from_arrays(columns, schema=schema)
