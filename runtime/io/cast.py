"""Parses text columns into typed columns; rows with a value that does not parse are dead."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from runtime.io.reader import ReadRequest
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import dead_rows, no_dead
from runtime.pipeline.normalize import Raw
from runtime.pipeline.row_errors import RowErrors
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.text_parse import parse


def text_columns(
    texts: dict[str, pa.Array], target: pa.Schema, needs: ReadRequest, errors: RowErrors
) -> list[pa.Array]:
    """The columns of `target`, parsed from text."""
    columns = []
    for wanted in target:
        if wanted.name not in texts or pt.is_null(wanted.type):
            columns.append(pa.nulls(len(errors.bad), wanted.type))
            continue
        values, bad = parse(texts[wanted.name], wanted.type)
        errors.add(bad, invalid_value_reason(wanted, needs))
        columns.append(values)
    return columns


def invalid_value_reason(wanted: pa.Field, needs: ReadRequest) -> str:
    """Why a value is invalid."""
    reason = f"`{wanted.name}` is no {_noun(wanted.type)}"
    declared = needs.declared.data_type(wanted.name) is not None
    certain = needs.use(wanted.name) is AttributeKind.NUMBER and pt.is_floating(wanted.type)
    if declared or certain or needs.use(wanted.name) in (AttributeKind.TEXT, AttributeKind.BOOL):
        return reason
    return f"{reason} (its type was inferred from the first rows; --schema can declare it)"


def _noun(data_type: pa.DataType) -> str:
    if pt.is_integer(data_type):
        return "whole number"
    if pt.is_floating(data_type):
        return "number"
    if pt.is_boolean(data_type):
        return "boolean"
    return "text" if pt.is_string(data_type) else str(data_type)


def valid_block(
    columns: list[pa.Array],
    target: pa.Schema,
    source: str,
    rows: npt.NDArray[np.int64],
    raw: Raw,
    errors: RowErrors,
) -> RowBlock:
    """The rows without an error as a block, the others as its dead rows."""
    batch = pa.RecordBatch.from_arrays(columns, schema=target)
    if not errors.bad.any():
        return RowBlock(batch, source, rows, no_dead(), raw)
    bad, good = np.flatnonzero(errors.bad), np.flatnonzero(~errors.bad)
    dead = dead_rows(source, rows[bad].tolist(), errors.reasons(bad), raw(bad.tolist()))
    kept = batch.take(pa.array(good))
    return RowBlock(kept, source, rows[good], dead, lambda chosen: raw(good[list(chosen)].tolist()))
