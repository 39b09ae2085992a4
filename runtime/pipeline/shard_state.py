"""The checkpoint of a shard: what is written, and what must agree before it is read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from runtime.errors import HamletError
from runtime.execution import state_file
from runtime.execution.state_file import Header, Part, columns_and_clock, columns_with_clock
from runtime.pipeline.routing_table import Reading

if TYPE_CHECKING:
    from runtime.pipeline.shard import Shard


@dataclass(frozen=True)
class SavedShard:
    """A checkpoint, read and checked to be whole. `parts` are those of the shard by name,
    `of_queries` those of single queries."""

    header: Header
    reading: Reading
    parts: Mapping[str, Any]
    of_queries: list[Part]

    @classmethod
    def read(cls, data: bytes, reading: Reading) -> SavedShard:
        """`reading` names the columns; which ones there were is in the checkpoint."""
        found = state_file.read(data)
        parts = {part.part: part.data for part in found if part.query is None}
        columns, clock = columns_and_clock(parts["columns"])
        return cls(
            header=Header(**parts["header"]),
            reading=replace(reading, columns=columns, clock=clock),
            parts=parts,
            of_queries=[part for part in found if part.query is not None],
        )


def save_shard(
    shard: Shard,
    *,
    rows: int = 0,
    dead: Mapping[str, int] | None = None,
    late_rows: int = 0,
    null_keys: Mapping[str, int] | None = None,
) -> bytes:
    reading = shard.reading
    header = Header(
        queries={query.name: state_file.fingerprint(query) for query in shard.workload},
        ties=shard.settings.ties,
        input=_input(reading),
        numeric=shard.settings.numeric,
        watermark=shard.watermark,
        newest=shard.newest,
        arrivals=shard.arrivals,
        late_rows=late_rows,
        null_keys=dict(null_keys or {}),
        rows=rows,
        dead=dict(dead or {}),
    )
    columns = columns_with_clock(reading.columns, reading.written())
    waiting = state_file.batches_to_bytes(shard.buffer.batches(), shard.schema)
    parts = [
        Part("header", asdict(header)),
        Part("columns", columns.serialize().to_pybytes()),
        Part("waiting", waiting),
    ]
    return state_file.write([*parts, *shard.backend.save()])


def check_compatible(shard: Shard, header: Header) -> None:
    """Rejects a checkpoint that was made with other settings or other queries."""
    settings, own = shard.settings, _input(shard.reading)
    if header.numeric != settings.numeric:
        raise HamletError(
            f"the checkpoint has {header.numeric} numbers, this engine {settings.numeric}"
        )
    if header.ties != settings.ties or header.input != own:
        raise HamletError(
            f"the checkpoint was made with ties {header.ties} and time column, type column "
            f"and unit {header.input}; this engine has ties {settings.ties} and {own}"
        )
    for query in shard.workload:
        known = header.queries.get(query.name)
        if known is not None and known != state_file.fingerprint(query):
            hint = "give the changed query a new name, then it counts from here on"
            raise HamletError(f"`{query.name}` is not the query of the checkpoint", hint)


def _input(reading: Reading) -> list[str | None]:
    return [reading.time_column, reading.type_column, reading.time_unit]
