"""Prints results as tables: the first rows of each query, and how many more there are."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa

from hamlet.cli.stderr import pluralize
from hamlet.cli.text_table import TextTable
from hamlet.cli.value_format import format_column, is_number
from runtime.io.growing_table import conformed, merged
from runtime.io.stdout import Stdout
from runtime.language.query import Query, Workload
from runtime.pipeline.engine import Results

LOG = "_log2"


class TableSink:
    """Keeps only the rows that it shows: `limit` for each query, 0 for all. `close` prints them."""

    def __init__(self, workload: Workload, limit: int) -> None:
        self._workload = workload
        self._limit = limit
        self._stdout = Stdout()
        self._kept: dict[str, list[pa.Table]] = {}
        self._rows: dict[str, int] = {}

    @property
    def broken(self) -> bool:
        return self._stdout.broken

    def write(self, results: Results) -> None:
        for name, table in results.items():
            have = self._rows.get(name, 0)
            self._rows[name] = have + table.num_rows
            room = max(0, self._limit - have) if self._limit else table.num_rows
            if room or name not in self._kept:
                self._kept.setdefault(name, []).append(table.slice(0, room))

    def close(self) -> None:
        for place, query in enumerate(self._workload):
            if query.name in self._kept:
                self._stdout.write(b"\n" if place else b"")
                self._print(query, _concatenated(self._kept[query.name]))
        self._stdout.flush()

    def _print(self, query: Query, table: pa.Table) -> None:
        rows = self._rows[query.name]
        shown = _text_table(query, table)
        shown.title = (query.name, pluralize(rows, "row"))
        if rows > table.num_rows:
            shown.footer = (
                f"... {pluralize(rows - table.num_rows, 'more row')}; --limit 0 shows all"
            )
        for text in shown.texts(self._stdout.isatty()):
            self._stdout.write(text.encode())


def _text_table(query: Query, table: pa.Table) -> TextTable:
    shown = TextTable()
    measures = {column.name for column in query.columns if column.measure is not None}
    for name in table.schema.names:
        if _is_log(name, measures):
            continue
        column = table[name].combine_chunks()
        logs = f"{name}{LOG}"
        known = None
        if name in measures and logs in table.schema.names:
            known = table[logs].to_pylist()
        right = is_number(column.type) or name in measures
        shown.add(name, format_column(column, name in measures, known), right=right)
    return shown


def _is_log(name: str, measures: set[str]) -> bool:
    """Whether a column is the logarithm of another, which shows it in its own column."""
    return name not in measures and name.removesuffix(LOG) in measures and name.endswith(LOG)


def _concatenated(tables: list[pa.Table]) -> pa.Table:
    schema = reduce(merged, (table.schema for table in tables))
    return pa.concat_tables([conformed(table, schema) for table in tables])
