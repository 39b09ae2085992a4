"""Writes and reads the checkpoint of a shard, and checks that it fits the engine."""

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
    """A checkpoint that was read and verified. `parts` are those of the shard by name, `of_queries`
    those of single queries."""

    header: StateHeader
    input_format: InputFormat
    parts: Mapping[str, Any]
    of_queries: list[StatePart]

    @classmethod
    def read(cls, data: bytes, input_format: InputFormat) -> SavedShard:
        """`input_format` names the time and type columns; the checkpoint has all columns."""
        found = state_file.read(data)
        parts = {part.part: part.data for part in found if part.query is None}
        columns, clock = columns_and_clock(parts["columns"])
        return cls(
            header=StateHeader(**parts["header"]),
            input_format=replace(input_format, columns=columns, clock=clock),
            parts=parts,
            of_queries=[part for part in found if part.query is not None],
        )


def write_shard(
    header: StateHeader,
    input_format: InputFormat,
    waiting: tuple[list[pa.RecordBatch], pa.Schema],
    state: Iterable[StatePart],
) -> bytes:
    """`waiting` are the events ahead of the watermark, `state` is the state of the operators."""
    columns = columns_with_clock(input_format.columns, input_format.result_clock())
    parts = [
        StatePart("header", asdict(header)),
        StatePart("columns", columns.serialize().to_pybytes()),
        StatePart("waiting", state_file.batches_to_bytes(*waiting)),
    ]
    return state_file.write([*parts, *state])


def check_compatible(
    header: StateHeader, settings: Settings, input_format: InputFormat, workload: Workload
) -> None:
    """Rejects a checkpoint that was made with other settings or other queries."""
    own = input_of(input_format)
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
            hint = "give the changed query a new name; it then starts with the next event"
            raise HamletError(f"`{query.name}` is not the query of the checkpoint", hint)


def input_of(input_format: InputFormat) -> list[str | None]:
    return [input_format.time_column, input_format.type_column, input_format.time_unit]
