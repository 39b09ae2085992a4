"""Taxi trips between zones of New York City."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import Array, GeneratedBlock, GeneratedColumn
from runtime.generate.lifecycle import Lifecycle
from runtime.generate.stream import Stream

LIFECYCLE = Lifecycle(
    moves={"Pickup": {"Travel": 1}, "Travel": {"Dropoff": 1}, "Dropoff": {"Pickup": 1}},
    bursty=("Travel",),
    types={},
)
PICKUP = LIFECYCLE.states.index("Pickup")
TRAVEL = LIFECYCLE.states.index("Travel")

ZONES = (
    "Astoria", "Battery Park", "Chelsea", "Chinatown", "East Harlem", "East Village", "Financial",
    "Gramercy", "Harlem", "JFK Airport", "LaGuardia", "Lincoln Square", "Midtown", "Murray Hill",
    "SoHo", "Tribeca", "Union Square", "Upper East", "Upper West", "Williamsburg",
)  # fmt: skip
BASE_FARE = 3.0
MOST_PASSENGERS = 4


class TaxiTrips:
    """Remembers where each trip goes, who is in the car and what the meter shows."""

    def __init__(self, groups: int, rng: np.random.Generator) -> None:
        self._zones = pa.array(ZONES)
        self._from = rng.integers(len(ZONES), size=groups)
        self._to = rng.integers(len(ZONES), size=groups)
        self._passengers = rng.integers(1, MOST_PASSENGERS + 1, size=groups)
        self._total = np.zeros(groups)
        self._at_pickup = np.zeros(groups)

    def __call__(self, block: GeneratedBlock) -> Mapping[str, GeneratedColumn]:
        moving = block.state == TRAVEL
        return {
            "driver": GeneratedColumn(block.slot // 2 + 1),
            "rider": GeneratedColumn(block.slot + 1),
            "pickup_location": GeneratedColumn(self._zone(block, self._from), self._zones),
            "dropoff_location": GeneratedColumn(self._zone(block, self._to), self._zones),
            "passengers": GeneratedColumn(self._boarded(block)),
            "speed": GeneratedColumn(np.round(block.uniform(3.0, 35.0), 1), valid=moving),
            "price": GeneratedColumn(np.round(BASE_FARE + self._metered(block), 2)),
        }

    def _zone(self, block: GeneratedBlock, memory: Array) -> Array:
        return block.hold(
            block.state == PICKUP, block.rng.integers(len(ZONES), size=block.size), memory
        )

    def _boarded(self, block: GeneratedBlock) -> Array:
        drawn = block.rng.integers(1, MOST_PASSENGERS + 1, size=block.size)
        return block.hold(block.state == PICKUP, drawn, self._passengers)

    def _metered(self, block: GeneratedBlock) -> Array:
        """The fare since the pickup; it goes up as the car moves."""
        steps = np.where(block.state == TRAVEL, block.uniform(0.2, 1.0), 0.0)
        total = block.total(steps, self._total)
        return np.asarray(total - block.hold(block.state == PICKUP, total, self._at_pickup))


STREAM = Stream(
    name="taxi",
    description="taxi trips in New York City: pickup, travel, drop-off, with a running meter",
    lifecycle=LIFECYCLE,
    runs="Travel events of a trip",
    partition=("driver", "rider"),
    attributes={
        "driver": pa.int64(),
        "rider": pa.int64(),
        "pickup_location": pa.string(),
        "dropoff_location": pa.string(),
        "passengers": pa.int64(),
        "speed": pa.float64(),
        "price": pa.float64(),
    },
    unit="s",
    rate=200,
    burst=5,
    groups=100,
    columns=TaxiTrips,
)
