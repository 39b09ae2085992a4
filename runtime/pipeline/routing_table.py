"""Describes how events are routed: the shard key, event types and columns of each route."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from runtime.language.query import Semantics, Workload
from runtime.pipeline.latency import pane_of
from runtime.pipeline.normalize import Preparer
from runtime.template.query_groups import RoutingGroup, routing_groups
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.columns import PANE
from runtime.types.time_codec import TimeCodec


@dataclass(frozen=True)
class Route:
    """Where the events of a routing group go. `types` is None if events of any type matter."""

    attributes: tuple[str, ...]
    types: frozenset[str] | None
    columns: tuple[str, ...]

    @classmethod
    def of(cls, group: RoutingGroup) -> Route:
        queries = group.queries
        # Every event of a partition breaks contiguity and counts in a window of events.
        every = any(q.semantics is Semantics.CONTIGUOUS or q.window.counted for q in queries)
        types = frozenset().union(*(query.types for query in queries))
        used = {mention.attribute for query in queries for mention in query.mentions}
        columns = tuple(sorted(used | set(group.attributes)))
        return cls(group.attributes, None if every else types, columns)


def routes_of(workload: Workload) -> tuple[Route, ...]:
    return tuple(Route.of(group) for group in routing_groups(workload))


def named_types(workload: Workload) -> frozenset[str]:
    """The event types that some query names."""
    return frozenset().union(*(query.types for query in workload))


@dataclass(frozen=True)
class InputFormat:
    """How to read rows as events: their columns and the unit of times. `clock` is the type of
    times in text, once known."""

    time_column: str = "time"
    type_column: str = "type"
    time_unit: str | None = None
    columns: pa.Schema = field(default_factory=lambda: pa.schema([]))
    clock: pa.DataType | None = None

    def preparer(self, uses: Mapping[str, AttributeKind]) -> Preparer:
        preparer = Preparer(self.time_column, self.type_column, self.time_unit, uses)
        preparer.bind(self.columns)
        if self.clock is not None:
            preparer.clock.set_type(self.clock)
        return preparer

    def result_clock(self) -> TimeCodec:
        """The codec that writes the times of results."""
        return self.preparer({}).clock


@dataclass(frozen=True)
class RoutingTable:
    """How a router splits events among owners and shards. `version` changes with the workload."""

    version: int
    input_format: InputFormat
    uses: Mapping[str, AttributeKind]
    routes: tuple[Route, ...]
    #: For each partition attribute, the types of the queries that use it.
    keys: Mapping[str, frozenset[str]]
    types: frozenset[str]  #: that some query names
    shards: int
    owners: int
    pane: int = 0  #: the longest length that divides all windows and slides

    @classmethod
    def of(
        cls,
        workload: Workload,
        input_format: InputFormat,
        shards: int,
        owners: int,
        version: int = 0,
    ) -> RoutingTable:
        uses, keys = dict(workload.uses), dict(workload.keys)
        types, pane = named_types(workload), pane_of(workload)
        return cls(
            version, input_format, uses, routes_of(workload), keys, types, shards, owners, pane
        )

    @property
    def event_schema(self) -> pa.Schema:
        """The columns of events in the blocks of Spark."""
        schema = self.input_format.preparer(self.uses).schema
        return pa.schema([*schema, pa.field(PANE, pa.int64())])

    def owned(self, owner: int) -> range:
        """Contiguous shards, so that one slice serves an owner."""
        return range(self._first(owner), self._first(owner + 1))

    def _first(self, owner: int) -> int:
        return -(-owner * self.shards // self.owners)
