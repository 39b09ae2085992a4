"""Lines of text files, as Spark reads them."""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_ingest.pipeline import sql


def without_blank_lines(lines: DataFrame, value: str = "value") -> DataFrame:
    """Lines of spaces remain: CSV may have one column."""
    return lines.where(f"{sql.name(value)} <> ''")
