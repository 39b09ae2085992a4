"""Results as tables for a reader: the first rows of each query, and how many more there are."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa

from hamlet.cli.stderr import many
from hamlet.cli.text_table import Grid
from hamlet.cli.value_format import cells, is_number
from runtime.io.growing_table import conformed, merged
from runtime.io.stdout import Stdout
from runtime.language.query import Query, Workload
from runtime.pipeline.engine import Results

LOG = "_log2"


class TableSink:
    """Keeps no more rows than it shows (`limit` a query, 0 for all); `close` prints them."""

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
                self._print(query, _joined(self._kept[query.name]))
        self._stdout.flush()

    def _print(self, query: Query, table: pa.Table) -> None:
        rows = self._rows[query.name]
        grid = _grid(query, table)
        grid.title = (query.name, many(rows, "row"))
        if rows > table.num_rows:
            grid.footer = f"... {many(rows - table.num_rows, 'more row')}; --limit 0 shows all"
        for text in grid.texts(self._stdout.isatty()):
            self._stdout.write(text.encode())


def _grid(query: Query, table: pa.Table) -> Grid:
    grid = Grid()
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
        grid.add(name, cells(column, name in measures, known), right=right)
    return grid


def _is_log(name: str, measures: set[str]) -> bool:
    """The logarithm beside a number, which is shown in the number's own column."""
    return name not in measures and name.removesuffix(LOG) in measures and name.endswith(LOG)


def _joined(tables: list[pa.Table]) -> pa.Table:
    schema = reduce(merged, (table.schema for table in tables))
    return pa.concat_tables([conformed(table, schema) for table in tables])
