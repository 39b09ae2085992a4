"""Decodes Kafka records whose Avro values Spark has parsed; values it could not parse are dead."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from runtime.io.cast import valid_block
from runtime.io.decode import Origin
from runtime.io.kafka_fields import FAULT, OFFSET, VALUE, is_kafka_field, kafka_column
from runtime.io.reader import typed_block
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import dead_rows, rows_as_json
from runtime.pipeline.row_errors import RowErrors
from runtime.types.columns import plain

#: The reasons of the FAULT column, by number; 0 is no fault.
REASONS = (
    "",
    "the value is null (a tombstone)",
    "the value has no Confluent header (a zero and four bytes of schema id)",
    "the value is not Avro of this schema",
    "the value goes on after the Avro of this schema",
)


@dataclass(frozen=True)
class KafkaAvro:
    """Blocks of OFFSET, FAULT, VALUE (of bad rows alone) and the columns of `target`."""

    target: pa.Schema

    @property
    def numbered(self) -> bool:
        return True

    def decode(self, table: pa.Table, origin: Origin) -> Iterator[RowBlock]:
        for batch in table.to_batches():
            errors = plain(batch.column(FAULT)).to_numpy()
            good = batch if not errors.any() else batch.filter(pa.array(errors == 0))
            block = self._block(good, origin)
            if errors.any():
                bad = batch.filter(pa.array(errors != 0))
                dead = pa.concat_tables([block.dead, _dead(bad, origin.source)]).sort_by("row")
                block = replace(block, dead=dead)
            yield block

    def _block(self, rows: pa.RecordBatch, origin: Origin) -> RowBlock:
        inside = pa.schema([each for each in self.target if not is_kafka_field(each.name)])
        typed = typed_block(rows, inside, origin.source, 0, None).batch
        errors = RowErrors(rows.num_rows)
        columns = [
            kafka_column(each.name, rows, origin, errors)
            if is_kafka_field(each.name)
            else typed.column(each.name)
            for each in self.target
        ]
        numbers = plain(rows.column(OFFSET)).to_numpy()

        def raw(chosen: Sequence[int]) -> list[str]:
            return rows_as_json(typed.take(pa.array(list(chosen), pa.int64())))

        return valid_block(columns, self.target, origin.source, numbers, raw, errors)


def _dead(bad: pa.RecordBatch, source: str) -> pa.Table:
    reasons = [REASONS[each] for each in plain(bad.column(FAULT)).to_pylist()]
    events = [_bytes(each) for each in plain(bad.column(VALUE)).to_pylist()]
    return dead_rows(source, plain(bad.column(OFFSET)).to_pylist(), reasons, events)


def _bytes(value: bytes | None) -> str | None:
    """Raw bytes as JSON text."""
    return None if value is None else json.dumps({"base64": base64.b64encode(value).decode()})
