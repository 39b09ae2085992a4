"""The settings of Spark SQL on which the meaning of rows depends: the same in every session."""

from __future__ import annotations

from pathlib import Path

ROWS_PER_ARROW_BATCH = 100_000


def sql_settings(folder: Path) -> dict[str, str]:
    """Spark keeps its warehouse in `folder`."""
    return {
        "spark.sql.adaptive.enabled": "false",  # it would change the number of partitions
        "spark.sql.caseSensitive": "true",
        "spark.sql.hive.filesourcePartitionFileCacheSize": "0",  # a file is read once
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_PER_ARROW_BATCH),
        "spark.sql.legacy.parquet.nanosAsLong": "true",
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # as all others write them
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
