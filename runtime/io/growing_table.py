"""Collects a result table in bounded memory; later pieces may add columns.

A column such as `trips_log2` appears only once a count exceeds a double.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from runtime.pipeline.spool import BatchStore


class GrowingTable:
    def __init__(self, limit: int) -> None:
        self._schema: pa.Schema | None = None
        self._limit = limit
        self._stores: list[BatchStore] = []

    @property
    def schema(self) -> pa.Schema:
        if self._schema is None:
            raise RuntimeError("nothing was added yet, so the columns are not known")
        return self._schema

    @property
    def rows(self) -> int:
        return sum(store.rows for store in self._stores)

    def add(self, table: pa.Table) -> None:
        grown = table.schema if self._schema is None else merged(self._schema, table.schema)
        if self._schema is None or not grown.equals(self._schema):
            self._schema = grown
            self._stores.append(BatchStore(self._limit))
        for batch in conformed(table, grown).to_batches():
            self._stores[-1].add(batch)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows in the order they were added, with all columns."""
        for store in self._stores:
            for batch in store:
                yield from conformed(pa.Table.from_batches([batch]), self.schema).to_batches()

    def close(self) -> None:
        for store in self._stores:
            store.close()


def merged(old: pa.Schema, new: pa.Schema) -> pa.Schema:
    """The columns of both; a new column keeps its position after its predecessor."""
    if new.equals(old):
        return old
    types = pa.unify_schemas(
        [old.remove_metadata(), new.remove_metadata()], promote_options="permissive"
    )
    names = list(old.names)
    for before, name in zip([None, *new.names], new.names, strict=False):
        if name not in names:
            names.insert(0 if before is None else names.index(before) + 1, name)
    return pa.schema([types.field(name) for name in names])


def conformed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    if table.schema.equals(schema):
        return table
    columns = [
        table.column(each.name).cast(each.type)
        if each.name in table.schema.names
        else pa.nulls(table.num_rows, each.type)
        for each in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
