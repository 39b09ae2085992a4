"""The interface of file readers: the request they get and the blocks they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import dead_source, no_dead
from runtime.pipeline.event_contract import EventContract
from runtime.pipeline.normalize import Raw
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.columns import plain
from runtime.types.schema import Schema

BATCH_ROWS = 65_536


@dataclass(frozen=True)
class ReadRequest:
    """The columns that a workload needs of an input. Without `uses`, all columns are read.
    `multiline` allows line breaks in quoted values of CSV."""

    time_column: str = "time"
    type_column: str = "type"
    uses: Mapping[str, AttributeKind] | None = None
    declared: Schema = field(default_factory=lambda: Schema({}))
    multiline: bool = False

    def use(self, column: str) -> AttributeKind | None:
        """How a column is used; None for the time and the type, which are read as they are."""
        if self.uses is not None and column in self.uses:
            return self.uses[column]
        return None if column in (self.time_column, self.type_column) else AttributeKind.ANY

    def contract(self, target: pa.Schema) -> EventContract:
        """The contract of these columns."""
        return EventContract(
            target,
            inferred=frozenset(f.name for f in target if self._is_inferred(f)),
            only_text=frozenset(n for n in target.names if self.use(n) is AttributeKind.TEXT),
        )

    def _is_inferred(self, column: pa.Field) -> bool:
        use = self.use(column.name)
        certain = use is AttributeKind.NUMBER and pt.is_floating(column.type)
        declared = self.declared.data_type(column.name) is not None
        return not (declared or certain or use in (AttributeKind.TEXT, AttributeKind.BOOL))

    def wants(self, column: str) -> bool:
        own = (self.time_column, self.type_column)
        return self.uses is None or column in self.uses or column in own


class FileReader(ABC):
    """Reads one file. `columns` inspects it, `blocks` reads it, `release` closes it in between."""

    #: Whether the types of the columns are inferred.
    infers_types = False

    def __init__(self, source: str, needs: ReadRequest) -> None:
        self.source = source
        self.needs = needs

    @abstractmethod
    def columns(self) -> pa.Schema: ...

    @abstractmethod
    def blocks(self, target: pa.Schema) -> Iterator[RowBlock]:
        """All rows, with the columns of `target`."""

    def check(self) -> None:  # noqa: B027
        """Raises if the file is damaged, where that is known before all rows are read."""

    @abstractmethod
    def close(self) -> None: ...

    def release(self) -> None:
        """Closes the file if it can be opened again."""
        self.close()

    def dead_block(self, target: pa.Schema, dead: pa.Table) -> RowBlock:
        """A block of invalid rows only."""
        empty = pa.RecordBatch.from_pylist([], schema=target)
        return RowBlock(empty, self.source, np.zeros(0, dtype=np.int64), dead)

    def broken_block(self, target: pa.Schema, reason: str) -> RowBlock:
        return self.dead_block(target, dead_source(self.source, reason))


def typed_block(
    batch: pa.RecordBatch, target: pa.Schema, source: str, first: int, raw: Raw | None
) -> RowBlock:
    """A block of a typed format; missing columns are null."""
    arrays = [_column(batch, wanted) for wanted in target]
    rows = np.arange(first, first + batch.num_rows, dtype=np.int64)
    given = pa.RecordBatch.from_arrays(arrays, schema=target)
    return RowBlock(given, source, rows, no_dead(), raw)


def _column(batch: pa.RecordBatch, wanted: pa.Field) -> pa.Array:
    if wanted.name not in batch.schema.names:
        return pa.nulls(batch.num_rows, wanted.type)
    column = batch.column(wanted.name)
    if column.type == wanted.type:
        return column
    return plain(column).cast(wanted.type, safe=False)


def present_columns(target: pa.Schema, names: Sequence[str]) -> list[str]:
    """The columns of `target` that a file has."""
    return [name for name in target.names if name in names]
