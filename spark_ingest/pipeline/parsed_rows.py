"""Rows that a source has parsed: what the rest of the pipeline starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import DataFrame

from runtime.pipeline.event_contract import EventContract


@dataclass(frozen=True)
class ParsedRows:
    """`frame` has the columns of the contract, FAULT if parsing can find faults, and ROW if rows
    have numbers of their own. `stored` are the columns' types in the frame: the files of an input
    may differ in them. `raw` is SQL of a row as it was read, made of the columns `kept`, whose
    names no attribute has."""

    frame: DataFrame
    stored: pa.Schema
    contract: EventContract
    raw: str | None = None
    kept: tuple[str, ...] = ()

    def with_frame(self, frame: DataFrame) -> ParsedRows:
        return replace(self, frame=frame)


def text_types(columns: pa.Schema) -> pa.Schema:
    """The types of columns that are parsed from text: times are instants."""
    return pa.schema(
        [
            (each.name, pa.timestamp("us", "UTC") if pt.is_timestamp(each.type) else each.type)
            for each in columns
        ]
    )
