"""The routing table: by which attributes events are sharded, and which types and columns go
where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from runtime.language.query import Semantics, Workload
from runtime.pipeline.latency import pane_of
from runtime.pipeline.normalize import Preparer
from runtime.template.query_groups import RoutingGroup, routing_groups
from runtime.types.attribute_kinds import AttributeKind
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
        # Any event of a partition breaks contiguity, and a window of events counts every event.
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
    """How rows are read as events: their columns and the unit of times. `clock` is the type of
    times that are written as text."""

    time_column: str = "time"
    type_column: str = "type"
    time_unit: str | None = None
    columns: pa.Schema = field(default_factory=lambda: pa.schema([]))
    clock: pa.DataType | None = None

    def preparer(self, uses: Mapping[str, AttributeKind]) -> Preparer:
        preparer = Preparer(self.time_column, self.type_column, self.time_unit, uses)
        preparer.bind(self.columns)
        if self.clock is not None:
            preparer.clock.settle(self.clock)
        return preparer

    def written(self) -> TimeCodec:
        """The clock that writes times in results."""
        return self.preparer({}).clock


@dataclass(frozen=True)
class RoutingTable:
    """All that routes events. It changes with the workload (`version`)."""

    version: int
    reading: InputFormat
    uses: Mapping[str, AttributeKind]
    routes: tuple[Route, ...]
    #: For each attribute of a key, the types of the queries that have it.
    keys: Mapping[str, frozenset[str]]
    types: frozenset[str]  #: that some query names
    shards: int
    owners: int
    pane: int = 0  #: the length that divides all windows

    @classmethod
    def of(
        cls, workload: Workload, reading: InputFormat, shards: int, owners: int, version: int = 0
    ) -> RoutingTable:
        uses, keys = dict(workload.uses), dict(workload.keys)
        types, pane = named_types(workload), pane_of(workload)
        return cls(version, reading, uses, routes_of(workload), keys, types, shards, owners, pane)

    def owned(self, owner: int) -> range:
        """Contiguous shards, so that one slice serves an owner."""
        return range(self._first(owner), self._first(owner + 1))

    def _first(self, owner: int) -> int:
        return -(-owner * self.shards // self.owners)
