"""Defines a stream: its lifecycle and attributes, and its description for users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import GeneratedBlock, GeneratedColumn
from runtime.generate.lifecycle import Lifecycle

# Attribute columns of a block. What they remember of each partition lives in the callable.
Columns = Callable[[GeneratedBlock], Mapping[str, GeneratedColumn]]


@dataclass(frozen=True)
class Stream:
    """A lifecycle that every partition runs through, and the attributes of its events.

    `columns(groups, rng)` prepares that many partitions. Times are unique while there is less
    than one event per `unit`; in a stream of whole seconds, events share their times.
    """

    name: str
    description: str
    lifecycle: Lifecycle
    runs: str
    partition: tuple[str, ...]
    attributes: Mapping[str, pa.DataType]
    unit: str
    rate: float
    burst: float
    groups: int
    columns: Callable[[int, np.random.Generator], Columns]

    @property
    def schema(self) -> pa.Schema:
        fields = {"time": pa.timestamp(self.unit, tz="UTC"), "type": pa.string()}
        return pa.schema({**fields, **self.attributes})

    @property
    def info(self) -> StreamInfo:
        mix = self.lifecycle.mix(self.burst).tolist()
        return StreamInfo(
            name=self.name,
            description=self.description,
            types=self.lifecycle.type_names,
            attributes=tuple(self.attributes),
            partition=self.partition,
            runs=self.runs,
            rate=self.rate,
            burst=self.burst,
            groups=self.groups,
            share=dict(zip(self.lifecycle.type_names, mix, strict=True)),
        )


@dataclass(frozen=True)
class StreamInfo:
    """A stream as the user sees it: `runs` says what `burst` is the mean length of, `partition`
    which attributes tell its `groups` partitions apart, and the numbers are the defaults."""

    name: str
    description: str
    types: tuple[str, ...]
    attributes: tuple[str, ...]
    partition: tuple[str, ...]
    runs: str
    rate: float
    burst: float
    groups: int
    share: Mapping[str, float]
