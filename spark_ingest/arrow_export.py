"""Exports a Spark frame as Arrow blocks that routers fetch.

With RayDP, executors keep a frame's partitions as Arrow bytes; routers fetch them into the object
store, and no row passes through the driver. If Spark does not run on Ray, the driver collects the
partitions instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from actors.router import BlockLost, CollectedBlock, SparkBlock
from spark_ingest.pruning import pruned

EXECUTOR = "raydp-executor-"


class ExportedBlocks:
    """A frame's partitions, in order. `release` drops them in Spark."""

    def __init__(self, parts: Sequence[SparkBlock | CollectedBlock], release: Any = None) -> None:
        self.parts = parts
        self._release = release

    def release(self) -> None:
        if self._release is not None:
            self._release()
            self._release = None


class ArrowExport:
    def __init__(self, spark: SparkSession, *, blocks: bool = True) -> None:
        self._spark = spark
        self._blocks = blocks
        self._names: dict[str, str] | None = None

    def park(self, frame: DataFrame, only: Sequence[int] | None = None) -> ExportedBlocks:
        """Executes the frame, or `only` these partitions of it, and keeps them for routers to
        fetch."""
        if self._blocks:
            return self._parked(frame, only)
        return _collected(frame if only is None else self._pruned_frame(frame, only))

    def _parked(self, frame: DataFrame, only: Sequence[int] | None) -> ExportedBlocks:
        """As RayDP's `prepareRecoverableRDD`, without its calls to actors: they cost as much as
        reading a small epoch."""
        java = self._java
        rdd: Any = frame._jdf.toArrowBatchRdd()
        if only is not None:
            rdd = pruned(self._spark.sparkContext, rdd, only)
        rdd.persist(java.level)
        try:
            rdd.count()
            number = rdd.id()
            places = [java.location(number, n) for n in range(rdd.getNumPartitions())]
            schema = java.writer.toArrowSchema(frame._jdf).toJson()
        except BaseException:
            rdd.unpersist(False)
            raise
        parts = [
            SparkBlock(EXECUTOR + place, number, n, schema, java.agent)
            for n, place in enumerate(self._by_actor(places))
        ]
        return ExportedBlocks(parts, lambda: rdd.unpersist(False))

    def _pruned_frame(self, frame: DataFrame, only: Sequence[int]) -> DataFrame:
        java: Any = frame._jdf
        rows = pruned(self._spark.sparkContext, java.queryExecution().toRdd(), only)
        session: Any = self._spark._jsparkSession
        return DataFrame(session.internalCreateDataFrame(rows, java.schema(), False), self._spark)

    @cached_property
    def _java(self) -> _Java:
        return _Java(self._spark.sparkContext)

    def forget(self) -> None:
        """Drops cached executor names after an error: an executor may have been restarted."""
        self._names = None

    def _by_actor(self, locations: list[str]) -> list[str]:
        """The actors of executors. A restarted executor has a new id in the same actor."""
        if self._names is None:
            jvm: Any = self._spark.sparkContext._jvm
            raydp = jvm.org.apache.spark.deploy.raydp
            master = jvm.io.ray.api.Ray.getActor(raydp.RayAppMaster.ACTOR_NAME()).get()
            self._names = dict(raydp.RayAppMasterUtils.getRestartedExecutors(master))
        names = self._names
        return [_first_name(place, names) for place in locations]


class _Java:
    """The JVM objects that every frame needs. Looking up a name takes longer than calling it."""

    def __init__(self, context: Any) -> None:
        jvm = context._jvm
        self.level = context._getJavaStorageLevel(StorageLevel.MEMORY_AND_DISK)
        self.writer = jvm.org.apache.spark.sql.raydp.ObjectStoreWriter
        self.agent = self.writer.driverAgentUrl()  #: recomputes a lost partition
        self._block = jvm.org.apache.spark.storage.RDDBlockId
        self._blocks = jvm.org.apache.spark.SparkEnv.get().blockManager().master()

    def location(self, rdd: int, partition: int) -> str:
        """The executor that keeps a partition."""
        found = self._blocks.getLocations(self._block(rdd, partition))
        if found.isEmpty():
            raise BlockLost("a block of Spark is lost: its executor has gone")
        return str(found.head().executorId())


def _first_name(place: str, names: dict[str, str]) -> str:
    while place in names:
        place = names[place]
    return place


def _collected(frame: DataFrame) -> ExportedBlocks:
    """Collects one table per partition."""
    numbered = frame.rdd.getNumPartitions()
    if numbered == 1:
        return ExportedBlocks([CollectedBlock(_table(frame))])
    from pyspark.sql.functions import spark_partition_id

    name = "__partition__"
    table = _table(frame.withColumn(name, spark_partition_id()))
    import pyarrow.compute as pc

    parts = [
        CollectedBlock(table.filter(pc.equal(table[name], number)).drop_columns([name]))
        for number in range(numbered)
    ]
    return ExportedBlocks(parts)


def _table(frame: DataFrame) -> pa.Table:
    batches = frame._collect_as_arrow()
    if batches:
        return pa.Table.from_batches(batches)
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema).empty_table()
