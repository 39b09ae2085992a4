"""Generates streams of events for examples, tests and benchmarks.

A stream has `groups` partitions that take turns at random. Each runs through the lifecycle of its
kind (request, travel, pickup, travel, drop-off) in runs of events of one type:

- `events`  how many; a longer stream starts with the shorter one
- `seed`    the same seed and parameters give the same events
- `rate`    events a minute
- `burst`   mean length of a run within a partition, for the types that come in runs; the lengths
            are geometric. Without `share`, longer bursts also raise the share of these types.
- `groups`  number of partitions
- `share`   type -> its share of the events; the other types fill the rest in their proportions,
            and transitions change as little as they can. Holds whatever the burst.
- `start`   when the stream begins; without a zone it is UTC
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import pyarrow as pa

from runtime.errors import InputError, did_you_mean
from runtime.generate.catalog import CATALOG
from runtime.generate.emit import emit
from runtime.generate.generated_block import BLOCK
from runtime.generate.parameters import check_rows, resolve
from runtime.generate.spec import parse_spec
from runtime.generate.stream import Stream, StreamInfo

__all__ = ["StreamInfo", "generate", "parse_spec", "schema", "streams"]


def streams() -> Mapping[str, StreamInfo]:
    """All streams, by name."""
    return {name: stream.info for name, stream in CATALOG.items()}


def schema(name: str) -> pa.Schema:
    """The columns of a stream's batches."""
    return _find(name).schema


def generate(
    name: str,
    *,
    events: int,
    seed: int = 0,
    rate: float | None = None,
    burst: float | None = None,
    groups: int | None = None,
    share: Mapping[str, float] | None = None,
    start: datetime | str | None = None,
    batch_rows: int = BLOCK,
) -> Iterator[pa.RecordBatch]:
    """The events of a stream in time order. Errors are raised here, not while iterating."""
    stream = _find(name)
    check_rows(batch_rows)
    wanted = resolve(
        stream,
        events=events,
        seed=seed,
        rate=rate,
        burst=burst,
        groups=groups,
        share=share,
        start=start,
    )
    return emit(stream, wanted, batch_rows)


def _find(name: str) -> Stream:
    if name not in CATALOG:
        raise InputError(f"there is no stream `{name}`", did_you_mean(name, CATALOG))
    return CATALOG[name]
