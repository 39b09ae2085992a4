"""Parses text columns into typed columns; rows with a value that does not parse are dead."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import dead_rows, no_dead
from runtime.pipeline.event_contract import EventContract, Reason
from runtime.pipeline.normalize import Raw
from runtime.pipeline.row_errors import RowErrors
from runtime.types.text_parse import parse


def text_columns(
    texts: dict[str, pa.Array], target: pa.Schema, contract: EventContract, errors: RowErrors
) -> list[pa.Array]:
    """The columns of `target`, parsed from text. Errors are found in the order of the contract."""
    columns = {
        name: text_column(texts.get(name), contract.columns.field(name), contract, errors)
        for name in contract.columns.names
    }
    return [columns[name] for name in target.names]


def text_column(
    text: pa.Array | None, wanted: pa.Field, contract: EventContract, errors: RowErrors
) -> pa.Array:
    """A column parsed from its text; without any, its values are null."""
    if text is None or pt.is_null(wanted.type):
        return pa.nulls(len(errors.bad), wanted.type)
    parsed = parse(text, wanted.type)
    errors.add_field(parsed.wrong, Reason.WRONG_TYPE, wanted.name, contract)
    errors.add_field(parsed.beyond, Reason.OUT_OF_RANGE, wanted.name, contract)
    return parsed.values


def valid_block(
    columns: list[pa.Array],
    target: pa.Schema,
    source: str,
    rows: npt.NDArray[np.int64],
    raw: Raw,
    errors: RowErrors,
) -> RowBlock:
    """The rows without an error as a block, the others as its invalid rows."""
    batch = pa.RecordBatch.from_arrays(columns, schema=target)
    if not errors.bad.any():
        return RowBlock(batch, source, rows, no_dead(), raw)
    bad, good = np.flatnonzero(errors.bad), np.flatnonzero(~errors.bad)
    dead = dead_rows(source, rows[bad].tolist(), errors.reasons(bad), raw(bad.tolist()))
    kept = batch.take(pa.array(good))
    return RowBlock(kept, source, rows[good], dead, lambda chosen: raw(good[list(chosen)].tolist()))
