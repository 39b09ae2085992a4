"""What a cluster would need, from what the parts of a job were measured to cost. Pure arithmetic.

Cores are CPU time: events a second times seconds for an event, over the share of a core that is to
be used. Everything is linear in events, which is what the measurements are extrapolated by.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from runtime.errors import HamletError


@dataclass(frozen=True)
class Demand:
    """What comes and what is asked. `windows` are open at a time; results have `groups` rows for
    each query and window, `slide` seconds apart."""

    events: float  #: a second
    queries: int
    shared: bool
    partitions: int
    windows: int = 1
    groups: int = 100
    slide: float = 60.0
    epoch: float = 1.0  #: seconds of events in one
    load: float = 0.7  #: the part of a core that is to be used


@dataclass(frozen=True)
class Parts:
    """Nanoseconds of CPU time for an event, by part; bytes; what an epoch and a result row cost
    the driver. Where a cost depends on queries or windows, points of it were measured."""

    spark: float
    router: float
    aggregator: Mapping[bool, Mapping[int, float]]  #: shared or not, by queries
    envelope: float  #: what a process costs over what it computes: calls, copies, logs
    ray: float  #: Ray's own processes
    driver_epoch: float  #: ns of the driver's CPU time
    epoch_wall: float  #: ns from one empty epoch to the next
    driver_table: float  #: for a query whose window has closed
    driver_row: float  #: and for each row of it
    block_bytes: float  #: of an event, from Spark to a router
    portion_bytes: float  #: of an event, from a router to an aggregator
    log_bytes: float  #: of an event, in a checkpoint
    state_bytes: Mapping[bool, Mapping[int, float]]  #: of a partition, by queries
    state_by_windows: Mapping[int, float]
    snapshot_over_state: float


@dataclass(frozen=True)
class Need:
    spark_cores: float
    router_cores: float
    aggregator_cores: float
    ray_cores: float
    driver_share: float  #: of one core, which is all that it can have
    state_bytes: float
    network_bytes: float  #: a second, at most: all on other machines
    log_bytes: float  #: a second
    snapshot_bytes: float  #: all state once
    shortest_epoch: float  #: seconds: with shorter ones the driver falls behind

    @property
    def cores(self) -> float:
        """Without the driver, which has the head."""
        return self.spark_cores + self.router_cores + self.aggregator_cores + self.ray_cores


def need(demand: Demand, parts: Parts) -> Need:
    if not 0 < demand.load <= 1:
        raise HamletError(f"a core cannot be used to {demand.load:g}", "give a part, such as 0.7")
    if min(demand.events, demand.queries, demand.partitions, demand.windows) <= 0:
        raise HamletError("a demand has events, queries, partitions and windows")
    cores = demand.events * 1e-9 / demand.load
    aggregator = between(parts.aggregator[demand.shared], demand.queries) * parts.envelope
    state = state_bytes(demand, parts)
    closing = (
        demand.queries / demand.slide * (parts.driver_table + demand.groups * parts.driver_row)
    )
    return Need(
        spark_cores=cores * parts.spark,
        router_cores=cores * parts.router,
        aggregator_cores=cores * aggregator,
        ray_cores=cores * parts.ray,
        driver_share=(parts.driver_epoch / demand.epoch + closing) * 1e-9,
        state_bytes=state,
        network_bytes=demand.events * (parts.block_bytes + parts.portion_bytes),
        log_bytes=demand.events * parts.log_bytes,
        snapshot_bytes=state * parts.snapshot_over_state,
        shortest_epoch=parts.epoch_wall * 1e-9,
    )


def state_bytes(demand: Demand, parts: Parts) -> float:
    one = between(parts.state_bytes[demand.shared], demand.queries)
    windows = parts.state_by_windows
    return demand.partitions * one * between(windows, demand.windows) / between(windows, 1)


def between(points: Mapping[int, float], at: float) -> float:
    """By a straight line of logarithms between the points around it, or the nearest two: costs
    that grow as a power do so there."""
    if len(points) < 2:
        raise HamletError("a cost between points needs two of them")
    known = sorted(points)
    high = min(max(bisect_left(known, at), 1), len(known) - 1)
    left, right = known[high - 1], known[high]
    slope = math.log(points[right] / points[left]) / math.log(right / left)
    return points[left] * math.exp(slope * math.log(at / left))
