"""The checkpoint of a shard: what is written, and what must agree before it is read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from runtime.errors import HamletError
from runtime.execution import state_file
from runtime.execution.state_file import (
    StateHeader,
    StatePart,
    columns_and_clock,
    columns_with_clock,
)
from runtime.language.query import Workload
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings


@dataclass(frozen=True)
class SavedShard:
    """A checkpoint, read and checked to be whole. `parts` are those of the shard by name,
    `of_queries` those of single queries."""

    header: StateHeader
    reading: InputFormat
    parts: Mapping[str, Any]
    of_queries: list[StatePart]

    @classmethod
    def read(cls, data: bytes, reading: InputFormat) -> SavedShard:
        """`reading` names the columns; which ones there were is in the checkpoint."""
        found = state_file.read(data)
        parts = {part.part: part.data for part in found if part.query is None}
        columns, clock = columns_and_clock(parts["columns"])
        return cls(
            header=StateHeader(**parts["header"]),
            reading=replace(reading, columns=columns, clock=clock),
            parts=parts,
            of_queries=[part for part in found if part.query is not None],
        )


def write_shard(
    header: StateHeader,
    reading: InputFormat,
    waiting: tuple[list[pa.RecordBatch], pa.Schema],
    state: Iterable[StatePart],
) -> bytes:
    """`waiting` are the events ahead of the watermark, `state` is that of the operators."""
    columns = columns_with_clock(reading.columns, reading.written())
    parts = [
        StatePart("header", asdict(header)),
        StatePart("columns", columns.serialize().to_pybytes()),
        StatePart("waiting", state_file.batches_to_bytes(*waiting)),
    ]
    return state_file.write([*parts, *state])


def check_compatible(
    header: StateHeader, settings: Settings, reading: InputFormat, workload: Workload
) -> None:
    """Rejects a checkpoint that was made with other settings or other queries."""
    own = input_of(reading)
    if header.numeric != settings.numeric:
        raise HamletError(
            f"the checkpoint has {header.numeric} numbers, this engine {settings.numeric}"
        )
    if header.ties != settings.ties or header.input != own:
        raise HamletError(
            f"the checkpoint was made with ties {header.ties} and time column, type column "
            f"and unit {header.input}; this engine has ties {settings.ties} and {own}"
        )
    for query in workload:
        known = header.queries.get(query.name)
        if known is not None and known != state_file.fingerprint(query):
            hint = "give the changed query a new name, then it counts from here on"
            raise HamletError(f"`{query.name}` is not the query of the checkpoint", hint)


def input_of(reading: InputFormat) -> list[str | None]:
    return [reading.time_column, reading.type_column, reading.time_unit]
