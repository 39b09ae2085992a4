"""Reads CSV: a block at a time as text, then typed column by column."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from runtime.io.bytestream import check_packed, is_packed, open_bytes
from runtime.io.cast import text_columns, valid_block
from runtime.io.csv_header import open_quote, read_header
from runtime.io.csv_quotes import MisquotedRecord, without_misquoted
from runtime.io.csv_split import blocks_of_records
from runtime.io.infer import infer
from runtime.io.reader import FileReader, ReadRequest
from runtime.io.utf8 import NOT_UTF8, mark_invalid_bytes, without_marks
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import dead_rows, no_dead, rows_as_json
from runtime.pipeline.event_contract import Reason, reason_text
from runtime.pipeline.normalize import Raw
from runtime.pipeline.row_errors import RowErrors
from runtime.types.columns import plain, true_rows


class CsvReader(FileReader):
    infers_types = True

    def __init__(self, source: str, needs: ReadRequest, file: Path | BinaryIO) -> None:
        super().__init__(source, needs)
        self._path = file if isinstance(file, Path) else None
        self._stream = None if isinstance(file, Path) else file
        self._table: _Table | None = None

    def columns(self) -> pa.Schema:
        table = self._open()
        sample = table.sample()
        return pa.schema([(name, self._type(name, sample)) for name in table.names])

    def blocks(self, target: pa.Schema) -> Iterator[RowBlock]:
        first = 0
        for texts in self._open().texts():
            yield self._block(texts, target, first)
            first += texts.count

    def check(self) -> None:
        if self._path is not None and is_packed(self._path):
            check_packed(self._path)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = self._table = None

    def release(self) -> None:
        if self._path is not None:
            self.close()

    def _open(self) -> _Table:
        if self._table is None:
            if self._path is not None:
                self._stream, _ = open_bytes(self._path)
            assert self._stream is not None
            self._table = _Table(self._stream, self.source, self.needs.multiline)
        return self._table

    def _type(self, name: str, sample: pa.RecordBatch | None) -> pa.DataType:
        declared = self.needs.declared.data_type(name)
        if declared is not None:
            return declared
        if sample is None or not self.needs.wants(name):
            return pa.null() if sample is None else pa.string()
        return infer(sample.column(name), self.needs.use(name))

    def _block(self, texts: _Texts, target: pa.Schema, first: int) -> RowBlock:
        batch = texts.batch
        errors = RowErrors(batch.num_rows)
        errors.add(texts.not_utf8(), reason_text(Reason.NOT_UTF8))
        named = {name: batch.column(name) for name in batch.schema.names}
        columns = text_columns(named, target, self.needs.contract(target), errors)
        rows = first + texts.ordinals()
        block = valid_block(columns, target, self.source, rows, _raw(batch), errors)
        dead = pa.concat_tables([block.dead, texts.misfits(self.source, first)])
        return replace(block, dead=dead.sort_by("row"))


class _Table:
    """The names of the columns, and the rows as strings."""

    def __init__(self, stream: BinaryIO, source: str, multiline: bool) -> None:
        self._source, self._multiline = source, multiline
        self._blocks = blocks_of_records(stream, source, multiline)
        header, rest = read_header(self._blocks, source, multiline)
        self.names = header.names
        self._rows = 0
        self._waiting: list[_Texts] = []
        if rest:
            self._waiting.append(self._texts(rest))

    def sample(self) -> pa.RecordBatch | None:
        """The first block with rows, which `texts` yields again."""
        while not (self._waiting and self._waiting[-1].batch.num_rows):
            block = next(self._blocks, None)
            if block is None:
                return None
            self._waiting.append(self._texts(block))
        return self._waiting[-1].batch

    def texts(self) -> Iterator[_Texts]:
        while self._waiting:
            yield self._waiting.pop(0)
        for block in self._blocks:
            yield self._texts(block)

    def _texts(self, block: bytes) -> _Texts:
        block, dirty = mark_invalid_bytes(block)
        block, misquoted = without_misquoted(block, self._multiline)
        for each in misquoted:
            if each.reason is Reason.OPEN_QUOTE and not self._multiline:
                raise open_quote(f"row {self._rows + each.position} of {self._source}")
        texts = _Texts(block, misquoted, self.names, dirty)
        self._rows += texts.count
        return texts


class _Texts:
    """The rows of one block, as strings, and the others: with wrong quotes, or too few or too many
    fields.

    Arrow could split a file into blocks, but its thread calls back into Python even while Python
    shuts down, and crashes.
    """

    def __init__(
        self, block: bytes, misquoted: list[MisquotedRecord], names: list[str], dirty: bool
    ) -> None:
        self._dirty = dirty
        self._misfits: list[tuple[int, str, str]] = []
        self.batch = self._parsed(block, names)
        self.count = self.batch.num_rows + len(self._misfits) + len(misquoted)
        if misquoted:
            places = np.delete(np.arange(self.count), [each.position for each in misquoted])
            self._misfits = [(places[n], why, text) for n, why, text in self._misfits]
            self._misfits += [_misfit(each) for each in misquoted]

    def ordinals(self) -> npt.NDArray[np.int64]:
        """The positions of the batch's rows in the block; the misfits lie between them."""
        return np.delete(np.arange(self.count), [row for row, _, _ in self._misfits])

    def misfits(self, source: str, first: int) -> pa.Table:
        if not self._misfits:
            return no_dead()
        rows, reasons, texts = zip(*self._misfits, strict=True)
        events = [json.dumps(without_marks(text), ensure_ascii=False) for text in texts]
        return dead_rows(source, [first + row for row in rows], reasons, events)

    def not_utf8(self) -> npt.NDArray[np.bool_]:
        bad = np.zeros(self.batch.num_rows, dtype=np.bool_)
        if self._dirty:
            for column in self.batch.columns:
                bad |= true_rows(pc.match_substring(column, NOT_UTF8))
        return bad

    def _parsed(self, data: bytes, names: list[str]) -> pa.RecordBatch:
        if not data.strip(b"\r\n"):
            return pa.RecordBatch.from_pylist([], pa.schema([(n, pa.string()) for n in names]))
        table = pa_csv.read_csv(
            pa.BufferReader(data),
            # One block and no threads: Arrow then reports the number of a misfit row.
            pa_csv.ReadOptions(column_names=names, block_size=len(data) + 1, use_threads=False),
            pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=self._misfit),
            pa_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        return pa.RecordBatch.from_arrays([plain(column) for column in table.columns], names)

    def _misfit(self, row: Any) -> str:
        reason = reason_text(
            Reason.FIELD_COUNT, count=row.actual_columns, expected=row.expected_columns
        )
        self._misfits.append((row.number - 1, _reason_of(row.text, reason), row.text))
        return "skip"


def _misfit(misquoted: MisquotedRecord) -> tuple[int, str, str]:
    text, reason = misquoted.record.decode(), reason_text(misquoted.reason)
    if (
        misquoted.reason is not Reason.OPEN_QUOTE
    ):  # that is said first: it is about all that follows
        reason = _reason_of(text, reason)
    return misquoted.position, reason, text


def _reason_of(text: str, otherwise: str) -> str:
    return reason_text(Reason.NOT_UTF8) if NOT_UTF8 in text else otherwise


def _raw(batch: pa.RecordBatch) -> Raw:
    def raw(indices: Sequence[int]) -> list[str]:
        rows = rows_as_json(batch.take(pa.array(indices, pa.int64())))
        return [without_marks(row) for row in rows]

    return raw
