"""The router actor: fetches a block from Spark and slices it by aggregator.

Rows go from Spark's executor through the object store to the aggregators, never through the driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
import ray

from actors.ray_patches import calls_to_java
from runtime.pipeline.event_block import Origin, blocks_of
from runtime.pipeline.event_contract import EventContract
from runtime.pipeline.router import BlockRouter
from runtime.pipeline.routing_table import RoutingTable


class BlockLost(Exception):
    """The block is not available: its executor died or released it."""


@dataclass(frozen=True)
class SparkBlock:
    """A partition that a Spark executor keeps as Arrow bytes, identified as in RayDP."""

    executor: str
    rdd: int
    partition: int
    schema: str
    driver: str

    def fetch(self) -> pa.Table:
        with calls_to_java():  # executors are Java actors
            call = _executor(self.executor).getRDDPartition.remote(
                self.rdd, self.partition, self.schema, self.driver
            )
        return pa.ipc.open_stream(pa.py_buffer(ray.get(call))).read_all()


@cache
def _executor(name: str) -> Any:
    """A handle outlives the restarts of its actor."""
    return ray.get_actor(name)


@dataclass(frozen=True)
class CollectedBlock:
    """A partition that the driver collected, for a Spark without block export."""

    table: pa.Table

    def fetch(self) -> pa.Table:
        return self.table


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Router:
    """Stateless, so that a call can be repeated after a crash."""

    def route(
        self,
        block: SparkBlock | CollectedBlock,
        contract: EventContract,
        origin: Origin,
        routing: RoutingTable,
        watermark: int | None,
    ) -> tuple[Any, ...]:
        """The statistics of the rows, and the portions of each aggregator."""
        try:
            table = block.fetch()
        except Exception as error:
            raise BlockLost(f"a block of Spark is lost: {error}") from error
        router = BlockRouter(routing, watermark)
        portions = router.route(blocks_of(table, contract, origin))
        return router.stats, *portions
