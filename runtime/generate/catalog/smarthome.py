"""Power plugs in houses: load in watts and work in kilowatt hours, as in DEBS 2014."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import GeneratedBlock, GeneratedColumn, fold
from runtime.generate.lifecycle import Lifecycle
from runtime.generate.stream import Stream

LIFECYCLE = Lifecycle(
    moves={"Load": {"Work": 1}, "Work": {"Load": 1}},
    bursty=("Load",),
    types={},
)
LOAD = LIFECYCLE.states.index("Load")

HOUSES = 40
MOST_WATTS = 3_000.0
KILOWATT_HOURS_PER_LOAD = 1.0 / 600.0 / 1_000.0


class SmarthomePlugs:
    """Remembers the load of each plug and its meter."""

    def __init__(self, groups: int, rng: np.random.Generator) -> None:
        self._watts = rng.uniform(0.0, MOST_WATTS, groups)
        self._meter = rng.uniform(0.0, 1_000.0, groups)

    def __call__(self, block: GeneratedBlock) -> Mapping[str, GeneratedColumn]:
        loaded = block.state == LOAD
        steps = np.where(loaded, block.rng.normal(0.0, 20.0, block.size), 0.0)
        watts = fold(block.total(steps, self._watts), 0.0, MOST_WATTS)
        meter = block.total(np.where(loaded, watts * KILOWATT_HOURS_PER_LOAD, 0.0), self._meter)
        return {
            "house": GeneratedColumn(block.slot % HOUSES + 1),
            "plug": GeneratedColumn(block.slot + 1),
            "value": GeneratedColumn(np.round(np.where(loaded, watts, meter), 3)),
            "voltage": GeneratedColumn(np.round(block.rng.normal(230.0, 2.0, block.size), 1)),
        }


STREAM = Stream(
    name="smarthome",
    description="load and work measured at the power plugs of 40 houses",
    lifecycle=LIFECYCLE,
    runs="Load measurements of a plug between two of Work",
    partition=("house", "plug"),
    attributes={
        "house": pa.int64(),
        "plug": pa.int64(),
        "value": pa.float64(),
        "voltage": pa.float64(),
    },
    unit="s",
    rate=20_000,
    burst=5,
    groups=2_125,
    columns=SmarthomePlugs,
)
