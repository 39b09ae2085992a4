"""Normalises the rows of a batch into events of one schema, and separates invalid rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from runtime.errors import InputError, suggest
from runtime.pipeline.dead_letter import dead_rows, no_dead, rows_as_json
from runtime.pipeline.event_contract import Reason, reason_text
from runtime.pipeline.row_errors import RowErrors
from runtime.types.attribute_kinds import AttributeKind, fits
from runtime.types.columns import (
    TIME,
    TYPE,
    TYPES,
    encoded_text,
    event_type,
    null_rows,
    plain,
    plain_type,
    same_values,
    true_rows,
    without,
)
from runtime.types.time_codec import TimeCodec

Rows: TypeAlias = "npt.NDArray[np.int64]"
Raw: TypeAlias = Callable[[Sequence[int]], list[str]]


# Why a time is invalid, in a column of times and in one of text.
_INVALID = (Reason.TIME_OUT_OF_RANGE, Reason.INVALID_TIME)


@dataclass(frozen=True)
class PreparedRows:
    """`events` have TIME, TYPE and the used attributes; `dead` are dead letters."""

    events: pa.RecordBatch
    dead: pa.Table


class Preparer:
    """Checks and normalises the batches of one input. All its events have one schema.

    `bind` checks the columns before any row is read; otherwise the first batch binds them.
    """

    def __init__(
        self,
        time_column: str = "time",
        type_column: str = "type",
        time_unit: str | None = None,
        uses: Mapping[str, AttributeKind] | None = None,
    ) -> None:
        self.time_column = time_column
        self.type_column = type_column
        self.uses = dict(sorted((uses or {}).items()))
        self.rows = 0
        self.dead: Counter[str] = Counter()
        self._unit = time_unit
        self._clock: TimeCodec | None = None
        self._schema: pa.Schema | None = None
        self._checked: pa.Schema | None = None
        self._untyped: set[str] = set()  # attributes with only nulls so far

    @property
    def clock(self) -> TimeCodec:
        if self._clock is None:
            raise RuntimeError("no clock before the columns are known: call bind or prepare")
        return self._clock

    @property
    def schema(self) -> pa.Schema:
        """The schema of the events."""
        if self._schema is None:
            raise RuntimeError("no schema before the columns are known: call bind or prepare")
        return self._schema

    def continue_from(self, before: Preparer) -> None:
        """Continues the counts of a preparer of other attributes of the same input."""
        self.rows, self.dead = before.rows, before.dead
        self.clock.continue_from(before.clock)

    def bind(self, columns: pa.Schema) -> None:
        self._check(columns)
        if self._schema is not None:
            return
        self._clock = TimeCodec(columns.field(self.time_column).type, self._unit)
        fields = [pa.field(TIME, pa.int64(), False), pa.field(TYPE, TYPES, False)]
        for name, use in self.uses.items():
            data_type = columns.field(name).type
            if pt.is_null(plain_type(data_type)):
                self._untyped.add(name)
            fields.append(pa.field(name, event_type(data_type, use)))
        self._schema = pa.schema(fields)

    def prepare(
        self,
        batch: pa.RecordBatch | pa.Table,
        source: str = "input",
        rows: Rows | None = None,
        raw: Raw | None = None,
    ) -> PreparedRows:
        """`rows` are row numbers in the source (by default they continue); `raw` returns rows as
        they were read."""
        if self._checked is None or not batch.schema.equals(self._checked):
            self.bind(batch.schema)
        if rows is None:
            rows = np.arange(self.rows, self.rows + batch.num_rows, dtype=np.int64)
        self.rows += batch.num_rows
        errors = RowErrors(batch.num_rows)
        columns = [self._times(batch, errors), self._types(batch, errors)]
        columns += [self._attribute(batch, name, errors) for name in self.uses]
        if not errors.bad.any():
            return PreparedRows(pa.RecordBatch.from_arrays(columns, schema=self.schema), no_dead())
        return PreparedRows(
            self._valid_events(columns, errors),
            self._dead_letters(batch, source, rows, raw, errors),
        )

    def _times(self, batch: pa.RecordBatch, errors: RowErrors) -> pa.Array:
        column = plain(batch.column(self.time_column))
        micros, bad = self.clock.to_micros(column)
        missing = null_rows(column)
        errors.add(missing, reason_text(Reason.NO_TIME))
        errors.add(bad & ~missing, reason_text(_INVALID[self.clock.is_text]))
        return pa.array(micros)

    def _types(self, batch: pa.RecordBatch, errors: RowErrors) -> pa.Array:
        column = encoded_text(batch.column(self.type_column))
        errors.add(null_rows(column), reason_text(Reason.NO_TYPE))
        return column

    def _attribute(self, batch: pa.RecordBatch, name: str, errors: RowErrors) -> pa.Array:
        column = self._cast_to_schema(plain(batch.column(name)), name)
        if not pt.is_floating(column.type):
            return column
        errors.add(true_rows(pc.is_inf(column)), reason_text(Reason.INFINITE, column=name))
        return without(column, true_rows(pc.is_nan(column)))

    def _cast_to_schema(self, column: pa.Array, name: str) -> pa.Array:
        """A later file of an input may have another type that holds the same values."""
        expected = self.schema.field(name).type
        if column.type == expected:
            return column
        if name in self._untyped or same_values(column.type, expected):
            with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
                return column.cast(expected)
        was = f"column `{name}` was {expected} and is now {column.type}"
        raise InputError(was, "all parts of an input need the same type")

    def _valid_events(self, columns: list[pa.Array], errors: RowErrors) -> pa.RecordBatch:
        valid = pa.array(~errors.bad)
        kept = [column.filter(valid) for column in columns]
        return pa.RecordBatch.from_arrays(kept, schema=self.schema)

    def _dead_letters(
        self,
        batch: pa.RecordBatch | pa.Table,
        source: str,
        rows: Rows,
        raw: Raw | None,
        errors: RowErrors,
    ) -> pa.Table:
        bad = np.flatnonzero(errors.bad)
        reasons = errors.reasons(bad)
        self.dead.update(reasons)
        events = raw(bad.tolist()) if raw else rows_as_json(batch.take(pa.array(bad)))
        return dead_rows(source, rows[bad].tolist(), reasons, events)

    def _check(self, columns: pa.Schema) -> None:
        twice = [name for name, times in Counter(columns.names).items() if times > 1]
        if twice:
            raise InputError(f"the input has more than one column `{twice[0]}`", "rename one")
        for what, name in (("time", self.time_column), ("type", self.type_column)):
            if name not in columns.names:
                raise InputError(
                    f"the input has no column `{name}` for the {what} of an event",
                    _hint_for_missing(name, columns.names, f"--{what}-column names another one"),
                )
        _check_type_column(columns.field(self.type_column))
        for name, use in self.uses.items():
            _check_attribute(name, use, columns)
        self._checked = columns


def _check_type_column(field: pa.Field) -> None:
    if not (fits(field.type, AttributeKind.ANY) and plain_type(field.type) != pa.binary()):
        raise InputError(f"column `{field.name}` is {field.type}, which cannot hold event types")


def _check_attribute(name: str, use: AttributeKind, columns: pa.Schema) -> None:
    if name in (TIME, TYPE):
        raise InputError(f"`{name}` cannot be used as an attribute", "rename the column")
    if name not in columns.names:
        hint = _hint_for_missing(name, columns.names, None)
        raise InputError(f"the input has no column `{name}`, which the workload uses", hint)
    data_type = columns.field(name).type
    if fits(data_type, use):
        return
    if use is AttributeKind.ANY:
        raise InputError(f"column `{name}` holds nested values ({data_type})", "unnest it")
    raise InputError(f"column `{name}` is {data_type}, but the workload uses it as {use.value}")


def _hint_for_missing(name: str, columns: Sequence[str], otherwise: str | None) -> str:
    shown = "the columns are " + (", ".join(f"`{column}`" for column in columns) or "none")
    near = suggest(name, columns)
    parts = [f"did you mean `{near}`?" if near else None, shown, otherwise]
    return "; ".join(part for part in parts if part).replace("?;", "? ")
