"""The names of the columns that the pipeline adds to those of the input."""

from __future__ import annotations

from runtime.pipeline.event_block import FAULT, FINER, RAW, ROW, shard_column
from runtime.types.columns import PANE, TIME, TYPE

__all__ = ["FAULT", "FINER", "PANE", "RAW", "ROW", "TIME", "TYPE", "shard_column"]
