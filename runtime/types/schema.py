"""The attributes of an input and their types, known before it is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pyarrow as pa

from runtime.types.attribute_kinds import AttributeKind, kind_of
from runtime.types.schema_probe import check_unique_names, columns_of
from runtime.types.yaml_schema import read_yaml_schema

YAML_SUFFIXES = (".yaml", ".yml")


class Schema:
    """Attributes with their Arrow types (None if unknown) and, if declared, by event type."""

    def __init__(
        self,
        columns: Mapping[str, pa.DataType | None],
        by_type: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self._columns = dict(columns)
        self._by_type = None if by_type is None else dict(by_type)

    @classmethod
    def from_arrow(cls, schema: pa.Schema) -> Self:
        check_unique_names(schema.names, "the input")
        return cls({field.name: field.type for field in schema})

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """YAML of event types and their attributes, `Request: {driver: text, rider: int}` or
        `Request: [driver, rider]`."""
        return cls(*read_yaml_schema(Path(path)))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """From a YAML file, by its suffix, or the columns of a data file."""
        if Path(path).suffix.lower() in YAML_SUFFIXES:
            return cls.from_yaml(path)
        return cls(columns_of(Path(path)))

    def attributes(self, type_name: str | None = None) -> frozenset[str]:
        """The attributes of an event type, or of all. An undeclared type has none."""
        if type_name is None or self._by_type is None:
            return frozenset(self._columns)
        return self._by_type.get(type_name, frozenset())

    def types(self) -> frozenset[str] | None:
        """The event types, if they are declared."""
        return None if self._by_type is None else frozenset(self._by_type)

    def kind(self, attribute: str) -> AttributeKind | None:
        """The kind of an attribute: ANY if it is unknown, None if there is no such attribute."""
        if attribute not in self._columns:
            return None
        data_type = self._columns[attribute]
        return AttributeKind.ANY if data_type is None else kind_of(data_type)

    def data_types(self) -> dict[str, pa.DataType | None]:
        """The Arrow types of all attributes; None if unknown."""
        return dict(self._columns)

    def data_type(self, attribute: str) -> pa.DataType | None:
        """The Arrow type of an attribute, if it exists and is known."""
        return self._columns.get(attribute)
