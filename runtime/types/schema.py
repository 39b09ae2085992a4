"""What is known of an input before it is read: its attributes, their kinds, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pyarrow as pa

from runtime.types.attribute_kinds import AttributeKind, kind_of
from runtime.types.schema_probe import columns_of, no_doubles
from runtime.types.yaml_schema import read_declared

YAML_SUFFIXES = (".yaml", ".yml")


class Schema:
    """Attributes with their Arrow types (None: not known) and, if declared, by event type."""

    def __init__(
        self,
        columns: Mapping[str, pa.DataType | None],
        by_type: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self._columns = dict(columns)
        self._by_type = None if by_type is None else dict(by_type)

    @classmethod
    def from_arrow(cls, schema: pa.Schema) -> Self:
        no_doubles(schema.names, "the input")
        return cls({field.name: field.type for field in schema})

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """YAML of event types and their attributes, `Request: {driver: text, rider: int}` or
        `Request: [driver, rider]`."""
        return cls(*read_declared(Path(path)))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """YAML by its suffix, else the columns of a data file."""
        if Path(path).suffix.lower() in YAML_SUFFIXES:
            return cls.from_yaml(path)
        return cls(columns_of(Path(path)))

    def attributes(self, type_name: str | None = None) -> frozenset[str]:
        """The attributes of an event type, or of all. A type that is not declared has none."""
        if type_name is None or self._by_type is None:
            return frozenset(self._columns)
        return self._by_type.get(type_name, frozenset())

    def types(self) -> frozenset[str] | None:
        """The event types, if they are declared."""
        return None if self._by_type is None else frozenset(self._by_type)

    def kind(self, attribute: str) -> AttributeKind | None:
        """The kind of an attribute, ANY if it is not known; None if there is none."""
        if attribute not in self._columns:
            return None
        data_type = self._columns[attribute]
        return AttributeKind.ANY if data_type is None else kind_of(data_type)

    def data_type(self, attribute: str) -> pa.DataType | None:
        """The Arrow type of an attribute, if it is there and known."""
        return self._columns.get(attribute)
