"""Decodes Kafka records whose values are JSON objects, as lines of a file, numbered by offset."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from runtime.errors import InputError
from runtime.io.cast import valid_block
from runtime.io.decode import Origin
from runtime.io.json_lines import JsonReader
from runtime.io.kafka_fields import OFFSET, VALUE, is_kafka_field, kafka_column
from runtime.io.reader import ReadRequest
from runtime.io.schema_merge import MergedColumns
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import dead_rows, no_dead
from runtime.pipeline.normalize import Raw
from runtime.pipeline.row_errors import RowErrors
from runtime.types.columns import plain, true_rows

Rows: TypeAlias = "npt.NDArray[np.int64]"

# Values that are not one line: null, blank, or several lines.
_BLANK = r"^[ \t\r\n\x0b\x0c]*$"
_NULL = "the value is null (a tombstone)"


@dataclass(frozen=True)
class KafkaJson:
    """Blocks of OFFSET, VALUE and the Kafka fields of `target`, into the columns of `target`."""

    target: pa.Schema
    needs: ReadRequest

    @property
    def numbered(self) -> bool:
        return True

    def decode(self, table: pa.Table, origin: Origin) -> Iterator[RowBlock]:
        inside = pa.schema([each for each in self.target if not is_kafka_field(each.name)])
        for batch in table.to_batches():
            numbers = plain(batch.column(OFFSET)).to_numpy()
            for block, where in self._blocks(batch, inside, origin.source):
                dead = _renumbered(block.dead, numbers)
                yield self._whole(
                    replace(block, rows=numbers[where], dead=dead), where, batch, origin
                )

    def _blocks(
        self, batch: pa.RecordBatch, inside: pa.Schema, source: str
    ) -> Iterator[tuple[RowBlock, Rows]]:
        """Blocks of the values' columns, and their rows of the batch, by which dead rows are
        numbered."""
        values = plain(batch.column(VALUE))
        every = np.arange(len(values), dtype=np.int64)
        if not len(inside):  # no column of the values is used
            yield RowBlock(batch.select([]), source, every, no_dead(), _raw(values)), every
            return
        lines, places, dead = _lines(values, every, source)
        reader = JsonReader(source, self.needs, io.BytesIO(_joined(lines)))
        if dead.num_rows:
            yield reader.dead_block(inside, dead), every[:0]
        for block in reader.blocks(inside):
            yield replace(block, dead=_renumbered(block.dead, places)), places[block.rows]

    def _whole(
        self, block: RowBlock, where: Rows, batch: pa.RecordBatch, origin: Origin
    ) -> RowBlock:
        """The block with Kafka's own fields."""
        if not any(map(is_kafka_field, self.target.names)):
            return block
        assert block.raw is not None or not len(where)
        rows = batch.take(pa.array(where))
        errors = RowErrors(len(where))
        columns = [
            kafka_column(each.name, rows, origin, errors)
            if is_kafka_field(each.name)
            else block.batch.column(each.name)
            for each in self.target
        ]
        raw = block.raw or (lambda chosen: [])
        whole = valid_block(columns, self.target, block.source, block.rows, raw, errors)
        return replace(whole, dead=pa.concat_tables([block.dead, whole.dead]).sort_by("row"))


def json_columns(values: Iterable[bytes | None], needs: ReadRequest, source: str) -> pa.Schema:
    """The columns of JSON values, inferred from the first ones."""
    array = pa.array(list(values), pa.binary())
    lines, _, _ = _lines(array, np.arange(len(array), dtype=np.int64), source)
    reader = JsonReader(source, needs, io.BytesIO(_joined(lines)))
    columns = MergedColumns(needs)
    try:
        found = reader.columns()
    except InputError as error:
        raise InputError(
            f"the values of {source} are not JSON objects",
            "values in Avro need their schema, in an .avsc file",
        ) from error
    columns.add(reader, found)
    return columns.schema()


def _lines(values: pa.Array, every: Rows, source: str) -> tuple[pa.Array, Rows, pa.Table]:
    """The values that fit on a line, their positions, and the others as dead rows."""
    odd = true_rows(pc.match_substring(values, "\n"))
    odd |= true_rows(pc.match_substring_regex(values, _BLANK))
    odd |= true_rows(values.is_null())
    if not odd.any():
        return values, every, no_dead()
    mended = values.to_pylist()
    reasons: dict[int, str] = {}
    for i in np.flatnonzero(odd).tolist():
        reason = _fault(mended[i])
        if reason is None:
            mended[i] = mended[i].replace(b"\n", b" ")
        else:
            reasons[i] = reason
    kept = [i for i in every.tolist() if i not in reasons]
    bad = list(reasons)
    dead = dead_rows(source, bad, list(reasons.values()), _raw(values)(bad))
    return pa.array([mended[i] for i in kept], pa.binary()), np.array(kept, np.int64), dead


def _fault(value: bytes | None) -> str | None:
    """Why a value of several lines is not JSON. Valid JSON has line ends only between tokens, so
    a space can replace them."""
    if value is None:
        return _NULL
    try:
        json.loads(value)
    except json.JSONDecodeError as error:
        return f"malformed JSON: {error.msg}"
    except UnicodeDecodeError:
        return "the row is not UTF-8"
    except (ValueError, RecursionError):
        return "malformed JSON: too large a number or too deep"
    return None


def _joined(lines: pa.Array) -> bytes:
    whole = pa.array([0, len(lines)], pa.int64())
    listed = pa.LargeListArray.from_arrays(whole, lines.cast(pa.large_binary()))
    return bytes(pc.binary_join(listed, pa.scalar(b"\n", pa.large_binary()))[0].as_py())


def _renumbered(dead: pa.Table, numbers: Rows) -> pa.Table:
    if not dead.num_rows:
        return dead
    rows = pa.array(numbers[dead["row"].to_numpy()])
    at = dead.schema.get_field_index("row")
    return dead.set_column(at, dead.schema.field(at), rows)


def _raw(values: pa.Array) -> Raw:
    def raw(indices: Iterable[int]) -> list[str]:
        found = [values[i].as_py() for i in indices]
        return [json.dumps(_text(value), ensure_ascii=False) for value in found]

    return raw


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "backslashreplace")
