"""Trips of a ridesharing service, as in figure 1 of the HAMLET paper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import GeneratedBlock, GeneratedColumn, Mask
from runtime.generate.lifecycle import Floats, Lifecycle
from runtime.generate.stream import Stream

# The driver drives to the rider (Approach) and with the rider (Ride).
LIFECYCLE = Lifecycle(
    moves={
        "Request": {"Quote": 35, "Accept": 45, "Pool": 10, "Surge": 5, "Decline": 5},
        "Quote": {"Accept": 60, "Surge": 20, "Pool": 10, "Decline": 10},
        "Surge": {"Accept": 70, "Decline": 30},
        "Pool": {"Accept": 100},
        "Decline": {"Request": 100},
        "Accept": {"Approach": 95, "Cancel": 5},
        "Approach": {
            "Arrive": 30,
            "Pickup": 30,
            "Cancel": 20,
            "Delay": 8,
            "Reroute": 7,
            "Request": 5,
        },
        "Delay": {"Approach": 80, "Cancel": 20},
        "Reroute": {"Approach": 100},
        "Arrive": {"Pickup": 60, "Wait": 30, "Cancel": 10},
        "Wait": {"Pickup": 70, "Cancel": 30},
        "Cancel": {"Request": 80, "Refund": 20},
        "Refund": {"Request": 100},
        "Pickup": {"Ride": 100},
        "Ride": {"Dropoff": 80, "Stop": 10, "Toll": 10},
        "Stop": {"Ride": 100},
        "Toll": {"Ride": 100},
        "Dropoff": {"Pay": 90, "Rate": 10},
        "Pay": {"Rate": 40, "Tip": 30, "Request": 30},
        "Tip": {"Rate": 50, "Request": 50},
        "Rate": {"Request": 100},
    },
    bursty=("Travel",),
    types={"Approach": "Travel", "Ride": "Travel"},
)

REQUEST = LIFECYCLE.states.index("Request")
POOL = LIFECYCLE.states.index("Pool")

DISTRICTS = (
    "Astoria", "Bayside", "Brownsville", "Bushwick", "Chelsea", "Chinatown", "Corona", "Dumbo",
    "Flatbush", "Flushing", "Gramercy", "Greenpoint", "Harlem", "Inwood", "Jamaica", "Midtown",
    "Mott Haven", "Red Hook", "Tribeca", "Woodside",
)  # fmt: skip
KINDS = ("Solo", "Pool", "Premium")
KIND_CHANCES = (0.55, 0.30, 0.15)

# Three trips in ten are stuck in traffic, below 10 mph, from their request to their end.
STUCK = 0.3
STUCK_PACE, FREE_PACE = 7.0, 25.0

# The price of an event, as a multiple of the trip's fare.
PRICED = {
    "Quote": 1.0,
    "Surge": 1.5,
    "Refund": 1.0,
    "Toll": 0.2,
    "Dropoff": 1.0,
    "Pay": 1.0,
    "Tip": 0.15,
}
LASTING = ("Approach", "Ride", "Delay", "Wait", "Stop")
MOVING = ("Approach", "Ride")


def _per_state(values: Mapping[str, float]) -> Floats:
    return np.array([values.get(state, 0.0) for state in LIFECYCLE.states])


class RidesharingTrips:
    """Remembers the current trip of each driver and rider."""

    def __init__(self, groups: int, rng: np.random.Generator) -> None:
        self._kind = rng.choice(len(KINDS), size=groups, p=KIND_CHANCES)
        self._pace = np.where(rng.random(groups) < STUCK, STUCK_PACE, FREE_PACE)
        self._fare = rng.uniform(8.0, 60.0, groups)
        self._kinds, self._districts = pa.array(KINDS), pa.array(DISTRICTS)
        self._priced = _per_state(PRICED)
        self._lasting = _per_state(dict.fromkeys(LASTING, 1.0)) > 0
        self._moving = _per_state(dict.fromkeys(MOVING, 1.0)) > 0

    def __call__(self, block: GeneratedBlock) -> Mapping[str, GeneratedColumn]:
        driver = block.slot // 2
        return {
            "driver": GeneratedColumn(driver + 1),
            "rider": GeneratedColumn(block.slot + 1),
            "district": GeneratedColumn(driver % len(DISTRICTS), self._districts),
            "kind": self._kinds_of(block),
            "speed": self._speed(block),
            "duration": self._duration(block),
            "price": self._price(block),
        }

    def _requested(self, block: GeneratedBlock) -> Mask:
        return np.asarray(block.state == REQUEST)

    def _kinds_of(self, block: GeneratedBlock) -> GeneratedColumn:
        """Chosen with the request; who is put into a pool rides as Pool from then on."""
        pooled = block.state == POOL
        drawn = np.searchsorted(np.cumsum(KIND_CHANCES)[:-1], block.rng.random(block.size))
        kind = np.where(pooled, KINDS.index("Pool"), drawn)
        return GeneratedColumn(
            block.hold(self._requested(block) | pooled, kind, self._kind), self._kinds
        )

    def _speed(self, block: GeneratedBlock) -> GeneratedColumn:
        drawn = np.where(block.rng.random(block.size) < STUCK, STUCK_PACE, FREE_PACE)
        pace = block.hold(self._requested(block), drawn, self._pace)
        speed = np.round(pace * block.uniform(0.6, 1.4), 1)
        return GeneratedColumn(speed, valid=self._moving[block.state])

    def _duration(self, block: GeneratedBlock) -> GeneratedColumn:
        return GeneratedColumn(
            block.rng.integers(5, 60, block.size), valid=self._lasting[block.state]
        )

    def _price(self, block: GeneratedBlock) -> GeneratedColumn:
        fare = block.hold(self._requested(block), block.uniform(8.0, 60.0), self._fare)
        factor = self._priced[block.state]
        return GeneratedColumn(np.round(fare * factor, 2), valid=factor > 0)


STREAM = Stream(
    name="ridesharing",
    description="trips of drivers and riders by district, from request to drop-off, of 20 types",
    lifecycle=LIFECYCLE,
    runs="Travel events in a row, to the rider or with the rider",
    partition=("driver", "rider", "district"),
    attributes={
        "driver": pa.int64(),
        "rider": pa.int64(),
        "district": pa.string(),
        "kind": pa.string(),
        "speed": pa.float64(),
        "duration": pa.int64(),
        "price": pa.float64(),
    },
    unit="us",
    rate=10_000,
    burst=10,
    groups=250,
    columns=RidesharingTrips,
)
