"""Merges the columns of many files into one schema."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.types as pt

from runtime.errors import InputError
from runtime.io.reader import FileReader, ReadRequest
from runtime.types.attribute_kinds import AttributeKind, fits
from runtime.types.columns import plain_type

_WHEN_ALL_NULL: dict[AttributeKind | None, pa.DataType] = {
    AttributeKind.NUMBER: pa.float64(),
    AttributeKind.BOOL: pa.bool_(),
}


class MergedColumns:
    """The columns of the files inspected so far, each with the file that determined its type."""

    def __init__(self, needs: ReadRequest) -> None:
        self._needs = needs
        self._types: dict[str, pa.DataType] = {}
        self._reader: dict[str, FileReader] = {}

    def add(self, reader: FileReader, columns: pa.Schema) -> None:
        for column in columns:
            if column.name not in self._types or pt.is_null(self._types[column.name]):
                self._types[column.name] = column.type
                self._reader[column.name] = reader
            elif not (pt.is_null(column.type) or column.type == self._types[column.name]):
                self._merge(column, reader)

    def schema(self) -> pa.Schema:
        """All columns. The type of a column without values follows from its use."""
        for name, data_type in self._types.items():
            if self._reader[name].infers_types:
                self._types[name] = self._checked(name, data_type)
        return pa.schema(list(self._types.items()))

    def _checked(self, name: str, data_type: pa.DataType) -> pa.DataType:
        use = self._needs.use(name)
        if pt.is_null(data_type):
            return _WHEN_ALL_NULL.get(use, pa.string())
        if use is None or not self._needs.wants(name) or fits(data_type, use):
            return data_type
        raise InputError(
            f"column `{name}` is {_described(data_type)} in {self._reader[name].source}, "
            f"but the workload uses it as {use.value}"
        )

    def _merge(self, column: pa.Field, reader: FileReader) -> None:
        name, before = column.name, self._reader[column.name]
        old, new = plain_type(self._types[name]), plain_type(column.type)
        if before.infers_types and reader.infers_types:
            merged = self._merge_inferred(name, old, new)
        elif before.infers_types or reader.infers_types:
            merged = _merge_with_inferred(new if before.infers_types else old)
            self._reader[name] = reader if before.infers_types else before
        else:
            merged = _of_types(old, new)
        if merged is None:
            where = f"{old} in {before.source} and {new} in {reader.source}"
            raise InputError(f"column `{name}` is {where}", "all files need one type")
        self._types[name] = merged

    def _merge_inferred(self, name: str, old: pa.DataType, new: pa.DataType) -> pa.DataType:
        """The type that serves the use wins; otherwise text, which can hold everything."""
        use = self._needs.use(name)
        both = _of_types(old, new)
        if both is not None:
            return both
        if use is not None and use is not AttributeKind.ANY and fits(old, use) != fits(new, use):
            return old if fits(old, use) else new
        return pa.string()


def _merge_with_inferred(known: pa.DataType) -> pa.DataType:
    """Text may hold finer times than the typed column beside it."""
    if pt.is_timestamp(known) and known.unit in ("s", "ms"):
        return pa.timestamp("us", known.tz)
    return known


def _of_types(old: pa.DataType, new: pa.DataType) -> pa.DataType | None:
    if old == new:
        return old
    if {old, new} == {pa.int64(), pa.uint64()}:  # no integer of 64 bits holds both
        return pa.float64()
    try:
        schemas = [pa.schema([("x", each)]) for each in (old, new)]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return None


def type_conflict(known: pa.Schema, columns: pa.Schema, used: Iterable[str]) -> str | None:
    """Why a later file cannot be read with the known columns, if so: its values would be truncated
    or invalid."""
    for name in used:
        if name not in columns.names or name not in known.names:
            continue
        old, new = (_stored(each.field(name).type) for each in (known, columns))
        if not pt.is_null(new) and _of_types(old, new) != old:
            return f"column `{name}` is {new}, but {old} in the files before it"
    return None


def _stored(data_type: pa.DataType) -> pa.DataType:
    """Numbers keep their width."""
    return data_type if pt.is_primitive(data_type) else plain_type(data_type)


def _described(data_type: pa.DataType) -> str:
    if pt.is_string(data_type):
        return "text"
    return "nested" if pt.is_nested(data_type) else str(data_type)


def requested_columns(schema: pa.Schema, needs: ReadRequest) -> pa.Schema:
    """The columns of the schema that the request needs."""
    chosen: Iterable[pa.Field] = (each for each in schema if needs.wants(each.name))
    return pa.schema(list(chosen))
