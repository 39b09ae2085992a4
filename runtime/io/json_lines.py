"""Reads JSON lines in blocks: by Arrow if all lines are valid, otherwise line by line."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.json as pa_json

from runtime.errors import InputError
from runtime.io.bytestream import check_packed, is_packed, open_bytes
from runtime.io.cast import valid_block
from runtime.io.formats import BOM
from runtime.io.json_types import LONGEST_WHOLE, Fields, cast_column, columns_of, read_type
from runtime.io.reader import FileReader, ReadRequest
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import dead_rows
from runtime.pipeline.event_contract import Reason, reason_text
from runtime.pipeline.normalize import Raw
from runtime.pipeline.row_errors import RowErrors
from runtime.types.columns import plain

BLOCK_BYTES = 2 << 20
# Blocks to sample while a field that the workload uses has not been seen.
SAMPLE_BLOCKS = 16
LONGEST_LINE = 64 << 20

_EXPECTED = "one JSON object per line is expected; `jq -c '.[]'` makes them of an array"
_READ = pa_json.ReadOptions(use_threads=False, block_size=LONGEST_LINE + BLOCK_BYTES)

# Numbers that JSON does not have. NaN is null.
_CONSTANTS = {"NaN": None, "Infinity": math.inf, "-Infinity": -math.inf}
# A pair of surrogates, a single one, or any other escape.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F])|.)", re.DOTALL)


class JsonReader(FileReader):
    infers_types = True

    def __init__(self, source: str, needs: ReadRequest, file: Path | BinaryIO) -> None:
        super().__init__(source, needs)
        self._path = file if isinstance(file, Path) else None
        self._stream = None if isinstance(file, Path) else file
        self._lines: Iterator[bytes] | None = None
        self._sampled: list[bytes] = []

    def columns(self) -> pa.Schema:
        fields = self._sample()
        declared = self.needs.declared
        names = [*fields, *sorted(declared.attributes() - set(fields))]
        if not self._sampled:  # an empty file is compatible with any columns
            own = (self.needs.time_column, self.needs.type_column, *(self.needs.uses or ()))
            names = list(dict.fromkeys([*own, *names]))
        return pa.schema([(name, self._type(name, fields)) for name in names])

    def blocks(self, target: pa.Schema) -> Iterator[RowBlock]:
        first = 0
        for data in self._blocks():
            lines = _Lines(data)
            block = self._fast(lines, target, first) or self._careful(lines, target, first)
            first += lines.count
            yield block

    def check(self) -> None:
        if self._path is not None and is_packed(self._path):
            check_packed(self._path)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = self._lines = None
        self._sampled = []

    def release(self) -> None:
        if self._path is not None:
            self.close()

    def _type(self, name: str, fields: Fields) -> pa.DataType:
        declared = self.needs.declared.data_type(name)
        if declared is not None:
            return declared
        return fields.type(name, self.needs.use(name)) if name in fields else pa.null()

    def _sample(self) -> Fields:
        fields = Fields()
        good = 0
        wanted = {name for name in (self.needs.uses or ()) if name not in self._declared()}
        for data in self._open():
            if not self._sampled and data.lstrip().startswith(b"["):
                raise InputError(f"{self.source} is a JSON array, not JSON lines", _EXPECTED)
            self._sampled.append(data)
            objects = [
                each for each in map(parsed_line, _Lines(data).all()) if isinstance(each, dict)
            ]
            good += len(objects)
            fields.add(objects)
            if len(self._sampled) == SAMPLE_BLOCKS or all(name in fields for name in wanted):
                break
        if self._sampled and not good:
            raise InputError(f"{self.source} is not JSON lines", _EXPECTED)
        return fields

    def _declared(self) -> frozenset[str]:
        return self.needs.declared.attributes()

    def _open(self) -> Iterator[bytes]:
        if self._lines is None:
            if self._path is not None:
                self._stream, _ = open_bytes(self._path)
            assert self._stream is not None
            self._lines = _whole_lines(self._stream, self.source)
        return self._lines

    def _blocks(self) -> Iterator[bytes]:
        lines = self._open()
        while self._sampled:
            yield self._sampled.pop(0)
        yield from lines

    def _fast(self, lines: _Lines, target: pa.Schema, first: int) -> RowBlock | None:
        """Parses with Arrow. None if a line needs the slow path."""
        if not lines.seem_valid():
            return None
        read_schema = pa.schema([(each.name, read_type(each.type)) for each in target])
        options = pa_json.ParseOptions(
            explicit_schema=read_schema, unexpected_field_behavior="ignore"
        )
        try:
            table = pa_json.read_json(pa.BufferReader(lines.data), _READ, options)
        except pa.ArrowInvalid:
            return None
        if table.num_rows != lines.count:
            return None
        errors, contract = RowErrors(lines.count), self.needs.contract(target)
        cast = {
            each.name: cast_column(plain(table.column(each.name)), each, contract, errors)
            for each in contract.columns
        }
        columns = [cast[name] for name in target.names]
        rows = np.arange(first, first + lines.count, dtype=np.int64)
        return valid_block(columns, target, self.source, rows, lines.raw, errors)

    def _careful(self, lines: _Lines, target: pa.Schema, first: int) -> RowBlock:
        """Parses line by line, so that invalid lines become invalid rows."""
        used = frozenset(target.names)
        parsed = [parsed_line(line, used) for line in lines.all()]
        good = np.array([i for i, each in enumerate(parsed) if isinstance(each, dict)], np.int64)
        objects = [parsed[i] for i in good.tolist()]
        errors = RowErrors(len(objects))
        columns = columns_of(objects, target, self.needs, errors)
        block = valid_block(columns, target, self.source, first + good, lines.raw_of(good), errors)
        bad = [i for i, each in enumerate(parsed) if not isinstance(each, dict)]
        texts = [json.dumps(text, ensure_ascii=False) for text in lines.raw(bad)]
        reasons = [str(parsed[i]) for i in bad]
        dead = dead_rows(self.source, [first + i for i in bad], reasons, texts)
        return replace(block, dead=pa.concat_tables([dead, block.dead]).sort_by("row"))


class _Lines:
    """The lines of a block that are not blank, split only on demand."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lines: list[bytes] | None = None
        starts = data.count(b"\n{") + data.startswith(b"{")
        ends = data.count(b"\n") + (not data.endswith(b"\n"))
        self._plain = starts == ends
        self.count = ends if self._plain else len(self.all())

    def seem_valid(self) -> bool:
        """Whether every line begins an object and all is UTF-8. Arrow checks neither: it crashes
        on a first `null` and reads `{} {}` as two rows. It also reads `Inf` and `-NaN`."""
        try:
            self.data.decode()
        except UnicodeDecodeError:
            return False
        return self._plain and b"Inf" not in self.data and b"-NaN" not in self.data

    def all(self) -> list[bytes]:
        if self._lines is None:
            self._lines = [line for line in self.data.split(b"\n") if line.strip()]
        return self._lines

    def raw(self, indices: Sequence[int]) -> list[str]:
        lines = self.all()
        return [lines[i].strip().decode("utf-8", "backslashreplace") for i in indices]

    def raw_of(self, chosen: npt.NDArray[np.int64]) -> Raw:
        return lambda indices: self.raw(chosen[list(indices)].tolist())


class _ObjectWithDuplicates(dict[str, Any]):
    """An object with duplicate keys."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.twice = [name for name, count in Counter(n for n, _ in pairs).items() if count > 1]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _ObjectWithDuplicates(pairs)


def parsed_line(line: bytes, used: frozenset[str] = frozenset()) -> dict[str, Any] | str:
    """The object on a line, or why it is invalid. As in Arrow, unused keys may be duplicate."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return reason_text(Reason.NOT_UTF8)
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        return reason_text(Reason.MALFORMED_JSON)
    if "\\u" in text and _has_lone_surrogate(text):
        return reason_text(Reason.MALFORMED_JSON)
    if not isinstance(value, dict):
        return reason_text(Reason.NOT_AN_OBJECT)
    twice = used.intersection(value.twice) if isinstance(value, _ObjectWithDuplicates) else ()
    return reason_text(Reason.REPEATED_KEY, column=min(twice)) if twice else value


def _loads(text: str) -> Any:
    constant = _CONSTANTS.get
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=constant)
    except json.JSONDecodeError:
        raise
    except ValueError:  # a whole number of too many digits
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=constant, parse_int=_whole
        )


def _whole(digits: str) -> int | float:
    if len(digits.removeprefix("-")) <= LONGEST_WHOLE:
        return int(digits)
    return -math.inf if digits.startswith("-") else math.inf


def _has_lone_surrogate(text: str) -> bool:
    """Whether an escape is half a character."""
    return any(match[1] for match in _ESCAPE.finditer(text))


def _whole_lines(stream: BinaryIO, source: str) -> Iterator[bytes]:
    """Blocks of whole lines; the last one may lack its newline."""
    rest = _first(stream)
    while more := stream.read(BLOCK_BYTES):
        cut = more.rfind(b"\n") + 1
        if cut:
            yield from _not_blank(rest + more[:cut])
            rest = more[cut:]
        else:
            rest += more
        if len(rest) > LONGEST_LINE:
            raise InputError(f"{source} has a line of more than {LONGEST_LINE >> 20} MB")
    yield from _not_blank(rest)


def _first(stream: BinaryIO) -> bytes:
    return stream.read(len(BOM)).removeprefix(BOM)


def _not_blank(data: bytes) -> Iterator[bytes]:
    if data.strip():
        yield data
