"""A column of the contract in rows of JSON, as Spark SQL: on the fast path and on the slow one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from runtime.pipeline.event_contract import EventContract, Reason
from spark_ingest.pipeline import json_values, sql
from spark_ingest.pipeline.text_values import NEVER, TextValue, text_value


@dataclass(frozen=True)
class JsonColumn:
    """`text` is SQL of the row's text, and `fast` of its fields as the fast path parses them."""

    place: int
    column: pa.Field
    contract: EventContract
    text: str
    fast: str

    @property
    def name(self) -> str:
        return str(self.column.name)

    @property
    def type(self) -> pa.DataType:
        return self.column.type

    @property
    def own(self) -> str:
        """The name for this column's part of a step."""
        return f"__{self.place}"

    def read_type(self) -> str:
        """The type in which the fast path parses the field."""
        if pt.is_integer(self.type) and not pt.is_uint64(self.type):
            return "BIGINT"
        if pt.is_floating(self.type):
            return "DOUBLE"
        return "BOOLEAN" if pt.is_boolean(self.type) else "STRING"

    @property
    def is_converted(self) -> bool:
        """Whether the fast path converts a text that it has parsed."""
        parsed = (pt.is_integer, pt.is_floating, pt.is_boolean, pt.is_string, pt.is_null)
        return not any(test(self.type) for test in parsed)

    def converted(self) -> str:
        return sql.named(text_value(self._read, self.type).value, self.own)

    def fast_value(self) -> str:
        if pt.is_uint64(self.type) or pt.is_null(self.type):
            return "NULL"
        if pt.is_float32(self.type):
            return json_values.single(self._read)
        return self.own if self.is_converted else self._read

    def suspicions(self) -> Iterator[str]:
        """What the fast path hides of this column."""
        yield self._stands_twice()
        if pt.is_string(self.type):
            yield f"({self._read} IS NOT NULL AND NOT {self._is_string()})"
        elif pt.is_uint64(self.type):  # Spark has no such type
            yield f"{self._read} IS NOT NULL"
        elif pt.is_integer(self.type) and not pt.is_int64(self.type):
            yield f"NOT coalesce({json_values.is_in_range(self._read, self.type)}, true)"
        elif self.is_converted:
            yield f"({self._read} IS NOT NULL AND {self.own} IS NULL)"

    def slow_value(self, token: str) -> TextValue:
        return json_values.value_of(token, self.type, self.name in self.contract.only_text)

    def slow_faults(self, value: TextValue) -> Iterator[tuple[str, str]]:
        cases = ((value.wrong, Reason.WRONG_TYPE), (value.beyond, Reason.OUT_OF_RANGE))
        for condition, reason in cases:
            if condition != NEVER:
                yield condition, str(self.contract.fault(reason, self.name))

    def repetition(self, fields: str) -> tuple[str, str]:
        fault = self.contract.fault(Reason.REPEATED_KEY, self.name)
        return json_values.is_repeated(fields, self.name), str(fault)

    @property
    def _read(self) -> str:
        return f"{self.fast}.{sql.name(self.name)}"

    def _stands_twice(self) -> str:
        """Whether the key, or the same text elsewhere, stands twice. Bytes are quick to search, so
        the text is first searched from the key's place in characters, which is never behind its
        place in bytes."""
        key = sql.text(f'"{self.name}"')
        rest = f"substring(CAST({self.text} AS BINARY), instr({self.text}, {key}) + 1)"
        maybe = f"contains({rest}, CAST({key} AS BINARY))"
        return f"({maybe} AND substring_index({self.text}, {key}, 2) != {self.text})"

    def _is_string(self) -> str:
        """Whether the only key of this name, at any depth, has a string as its value."""
        key, space = f'"{self.name}"', r"[ \t\r\n]*"
        common = (f"contains({self.text}, {sql.text(key + end)})" for end in (':"', ': "'))
        pattern = sql.text(rf'{re.escape(key)}{space}:{space}"')
        return f"({' OR '.join(common)} OR {self.text} RLIKE {pattern})"
