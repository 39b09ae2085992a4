"""Adds the shard of each event, for every key that some routing group partitions by."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from runtime.pipeline.routing_table import RoutingTable
from runtime.types.columns import event_type
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.columns import shard_column


def partition(rows: DataFrame, routing: RoutingTable) -> DataFrame:
    """A key has the same shard in every run: state is saved by shard."""
    types = {
        name: event_type(routing.input_format.columns.field(name).type, use)
        for name, use in routing.uses.items()
    }
    added = {
        shard_column(place): F.expr(_shard(route.attributes, types, routing.shards))
        for place, route in enumerate(routing.routes)
        if route.attributes and routing.shards > 1
    }
    return rows.withColumns(added) if added else rows


def _shard(key: Sequence[str], types: dict[str, pa.DataType], shards: int) -> str:
    values = ", ".join(_plain(sql.name(name), types[name]) for name in key)
    return f"CAST(pmod(xxhash64({values}), {shards}L) AS SMALLINT)"


def _plain(column: str, data_type: pa.DataType) -> str:
    """One of the types whose hashes are fixed: whole number, double, string, bytes."""
    if pt.is_boolean(data_type):
        return f"CAST({column} AS BIGINT)"
    if pt.is_date(data_type):
        return f"CAST(unix_date({column}) AS BIGINT)"
    if pt.is_uint64(data_type):  # Spark has these as decimals
        return f"CAST({column} AS DOUBLE)"
    return column
