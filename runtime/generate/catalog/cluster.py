"""Jobs on a cluster and the load of their mappers, as in query q1 of the COGRA paper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import Array, GeneratedBlock, GeneratedColumn
from runtime.generate.lifecycle import Lifecycle
from runtime.generate.stream import Stream

LIFECYCLE = Lifecycle(
    moves={"Start": {"Load": 1}, "Load": {"End": 1}, "End": {"Start": 1}},
    bursty=("Load",),
    types={},
)
START = LIFECYCLE.states.index("Start")
LOAD = LIFECYCLE.states.index("Load")

MAPPERS = 4
CLIMBING = 0.5
# Effort of 60 stands for 63% load, of 120 for 86%: it rises for ever and stays below 100.
SATURATION = 60.0


class ClusterJobs:
    """Remembers each mapper's effort, and whether it climbs throughout this run of the job."""

    def __init__(self, groups: int, rng: np.random.Generator) -> None:
        self._climbs = rng.random(groups) < CLIMBING
        self._total = np.zeros(groups)
        self._at_start = np.zeros(groups)

    def __call__(self, block: GeneratedBlock) -> Mapping[str, GeneratedColumn]:
        loaded = block.state == LOAD
        cpu = 100.0 * (1.0 - np.exp(-self._effort(block) / SATURATION))
        return {
            "job": GeneratedColumn(block.slot // MAPPERS + 1),
            "mapper": GeneratedColumn(block.slot % MAPPERS + 1),
            "cpu": GeneratedColumn(np.round(cpu, 3), valid=loaded),
            "memory": GeneratedColumn(np.round(block.uniform(5.0, 95.0), 1), valid=loaded),
        }

    def _effort(self, block: GeneratedBlock) -> Array:
        """Since the start: the sum of steps up where it climbs, else any value."""
        started = block.state == START
        climbs = block.hold(started, block.rng.random(block.size) < CLIMBING, self._climbs)
        total = block.total(block.uniform(1.0, 12.0), self._total)
        climbed = total - block.hold(started, total, self._at_start)
        return np.where(climbs, climbed, block.uniform(1.0, 120.0))


STREAM = Stream(
    name="cluster",
    description="starts and ends of jobs and the load of their mappers, often rising",
    lifecycle=LIFECYCLE,
    runs="Load measurements of a mapper in one run of its job",
    partition=("job", "mapper"),
    attributes={
        "job": pa.int64(),
        "mapper": pa.int64(),
        "cpu": pa.float64(),
        "memory": pa.float64(),
    },
    unit="us",
    rate=3_000,
    burst=5,
    groups=80,
    columns=ClusterJobs,
)
