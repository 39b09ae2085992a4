"""SQL of microseconds since 1970, which does not depend on the session's time zone."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

SECOND = 1_000_000


def of_timestamp(column: str, stored: pa.DataType) -> str:
    """The microseconds of a timestamp. Spark reads nanoseconds as whole numbers."""
    if stored.unit == "ns":
        return of_nanoseconds(column)
    # Spark would convert a time without a zone from that of the session.
    return of_local_time(column) if stored.tz is None else f"unix_micros({column})"


def of_nanoseconds(column: str) -> str:
    """Rounded down, also before 1970."""
    return f"({column} div 1000 - CAST({column} % 1000 < 0 AS BIGINT))"


def of_local_time(column: str) -> str:
    minutes = (
        f"(unix_date(CAST({column} AS DATE)) * 1440L + hour({column}) * 60 + minute({column}))"
    )
    seconds = f"CAST(extract(SECOND FROM {column}) * {SECOND} AS BIGINT)"
    return f"({minutes} * {60 * SECOND}L + {seconds})"


def is_nanoseconds(data_type: pa.DataType) -> bool:
    return bool(pt.is_timestamp(data_type) and data_type.unit == "ns")
