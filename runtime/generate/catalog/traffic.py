"""Vehicles on the streets of figure 1 of the SHARON paper; an event's type is its street."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import GeneratedBlock, GeneratedColumn
from runtime.generate.lifecycle import Lifecycle
from runtime.generate.stream import Stream

MAP = {
    "OakSt": {"MainSt": 80, "ParkAve": 20},
    "MainSt": {"StateSt": 45, "WestSt": 45, "OakSt": 10},
    "StateSt": {"LindenSt": 50, "EastPark": 50},
    "WestSt": {"LindenSt": 60, "EastPark": 40},
    "LindenSt": {"ParkAve": 100},
    "ParkAve": {"OakSt": 70, "GreenHill": 30},
    "EastPark": {"ElmSt": 100},
    "ElmSt": {"ParkAve": 90, "EastPark": 10},
    "GreenHill": {"EastPark": 50, "LindenSt": 50},
}
LIFECYCLE = Lifecycle(moves=MAP, bursty=tuple(MAP), types={})


class TrafficPositions:
    def __init__(self, groups: int, rng: np.random.Generator) -> None:
        self._limit = rng.uniform(20.0, 50.0, len(MAP))

    def __call__(self, block: GeneratedBlock) -> Mapping[str, GeneratedColumn]:
        speed = self._limit[block.state] * block.uniform(0.1, 1.1)
        return {
            "vehicle": GeneratedColumn(block.slot + 1),
            "speed": GeneratedColumn(np.round(speed, 1)),
        }


STREAM = Stream(
    name="traffic",
    description="position reports of vehicles on their way; the type is the street",
    lifecycle=LIFECYCLE,
    runs="reports of a vehicle from one street",
    partition=("vehicle",),
    attributes={"vehicle": pa.int64(), "speed": pa.float64()},
    unit="us",
    rate=3_000,
    burst=2,
    groups=300,
    columns=TrafficPositions,
)
