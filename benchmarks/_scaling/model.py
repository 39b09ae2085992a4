"""Computes the size of a cluster from the measured cost of the parts of a job. Pure arithmetic.

The number of cores is CPU time: the cost of the events, epochs and windows of one second, divided
by the fraction of a core that is to be used. Costs are linear in events and epochs, so they can be
extrapolated. Over queries, partitions and bursts, costs are interpolated between measured points;
beyond them the model uses the last point.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from runtime.errors import HamletError

#: By bursts, then partitions, then queries.
Grid: TypeAlias = Mapping[int, Mapping[int, Mapping[int, float]]]


@dataclass(frozen=True)
class Demand:
    """What comes and what is asked. `burst` events of a partition come in a row; `windows` are open
    at a time; results have `groups` rows for each query and window, `slide` seconds apart."""

    events: float  #: a second
    queries: int
    shared: bool
    partitions: int
    burst: int = 120
    windows: int = 1
    groups: float = 100
    slide: float = 60.0
    epoch: float = 1.0  #: seconds of events in one
    load: float = 0.7  #: the part of a core that is to be used

    @property
    def met(self) -> float:
        """Events of a partition that an engine meets in a row: of a burst it has no more at a time
        than an epoch brings."""
        return min(self.burst, max(1.0, self.events * self.epoch / self.partitions))


@dataclass(frozen=True)
class Cost:
    """Nanoseconds of CPU time."""

    event: float
    epoch: float

    def a_second(self, demand: Demand) -> float:
        return demand.events * self.event + self.epoch / demand.epoch


@dataclass(frozen=True)
class Parts:
    """Nanoseconds of CPU time, by part; bytes; what a result costs the driver. Where a cost depends
    on queries, partitions, bursts or windows, points of it were measured."""

    spark: Cost
    router: Cost
    aggregator: Cost  #: without its engine: calls, copies, logs
    ray: Cost  #: Ray's own processes
    driver: Cost  #: with Spark's
    engine: Mapping[bool, Grid]  #: for an event, shared or not
    window: Mapping[bool, Mapping[int, float]]  #: to open and close one in a partition, by queries
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
    beyond: tuple[str, ...]  #: what lies outside of what was measured

    @property
    def cores(self) -> float:
        """Without the driver, which has the head."""
        return self.spark_cores + self.router_cores + self.aggregator_cores + self.ray_cores


def need(demand: Demand, parts: Parts) -> Need:
    if not 0 < demand.load <= 1:
        raise HamletError(f"a core cannot be used to {demand.load:g}", "give a part, such as 0.7")
    if min(demand.events, demand.queries, demand.partitions, demand.burst, demand.windows) <= 0:
        raise HamletError("a demand has events, queries, partitions, bursts and windows")
    cores = 1e-9 / demand.load
    turned = demand.partitions / demand.slide * between(parts.window[demand.shared], demand.queries)
    aggregator = parts.aggregator.a_second(demand) + demand.events * engine(demand, parts) + turned
    closing = (
        demand.queries / demand.slide * (parts.driver_table + demand.groups * parts.driver_row)
    )
    state = state_bytes(demand, parts)
    return Need(
        spark_cores=cores * parts.spark.a_second(demand),
        router_cores=cores * parts.router.a_second(demand),
        aggregator_cores=cores * aggregator,
        ray_cores=cores * parts.ray.a_second(demand),
        driver_share=(parts.driver.a_second(demand) + closing) * 1e-9,
        state_bytes=state,
        network_bytes=demand.events * (parts.block_bytes + parts.portion_bytes),
        log_bytes=demand.events * parts.log_bytes,
        snapshot_bytes=state * parts.snapshot_over_state,
        shortest_epoch=parts.epoch_wall * 1e-9,
        beyond=_beyond(demand, parts),
    )


def engine(demand: Demand, parts: Parts) -> float:
    """Nanoseconds for an event. It counts all partitions, also where many engines share them."""
    by_burst = {
        burst: between(
            {keys: between(costs, demand.queries) for keys, costs in by_keys.items()},
            demand.partitions,
        )
        for burst, by_keys in parts.engine[demand.shared].items()
    }
    return between(by_burst, demand.met)


def state_bytes(demand: Demand, parts: Parts) -> float:
    one = between(parts.state_bytes[demand.shared], demand.queries)
    windows = parts.state_by_windows
    return demand.partitions * one * between(windows, demand.windows) / between(windows, 1)


def between(points: Mapping[int, float], at: float) -> float:
    """By a straight line of logarithms between the points around it: costs that grow as a power do
    so there. Outside of all points, that of the nearest."""
    if len(points) < 2:
        raise HamletError("a cost between points needs two of them")
    known = sorted(points)
    at = min(max(at, known[0]), known[-1])
    high = max(bisect_left(known, at), 1)
    left, right = known[high - 1], known[high]
    slope = math.log(points[right] / points[left]) / math.log(right / left)
    return points[left] * math.exp(slope * math.log(at / left))


def _beyond(demand: Demand, parts: Parts) -> tuple[str, ...]:
    by_burst = parts.engine[demand.shared]
    by_keys = by_burst[min(by_burst)]
    measured = {
        "queries": (demand.queries, by_keys[min(by_keys)]),
        "partitions": (demand.partitions, by_keys),
        "bursts": (demand.met, by_burst),
        "windows": (demand.windows, parts.state_by_windows),
    }
    return tuple(
        name for name, (at, known) in measured.items() if not min(known) <= at <= max(known)
    )
