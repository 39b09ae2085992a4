"""Text files as parsed rows: JSON lines and CSV."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from runtime.pipeline.event_contract import EventContract
from spark_ingest.pipeline import parse_csv as csv
from spark_ingest.pipeline import parse_json as json
from spark_ingest.pipeline import sql, text_lines
from spark_ingest.pipeline.columns import RAW
from spark_ingest.pipeline.parsed_rows import ParsedRows, text_types

LINE = csv.LINE
_BOM = "\ufeff"
# The lower bits of Spark's row ids are the position in a partition, which is a piece of one file.
_POSITION = "monotonically_increasing_id() & 8589934591L"


def json_rows(spark: SparkSession, paths: list[str], contract: EventContract) -> ParsedRows:
    """Only a line feed ends a line: others may be in a string."""
    lines = json.without_blank_lines(_lines(spark.read.text(paths, lineSep="\n")), LINE)
    raw = f"coalesce({sql.name(RAW)}, {json.raw_json(sql.name(LINE))})"
    frame = json.parse_json(lines, contract, LINE)
    return ParsedRows(frame, text_types(contract.columns), contract, raw, (LINE, RAW))


def csv_rows(
    spark: SparkSession, paths: list[str], header: Sequence[str], contract: EventContract
) -> ParsedRows:
    lines = text_lines.without_blank_lines(_lines(spark.read.text(paths)), LINE)
    return _csv(csv.parse_csv(_without_header(lines), header, contract, LINE), header, contract)


def whole_csv_rows(
    spark: SparkSession, paths: list[str], header: Sequence[str], contract: EventContract
) -> ParsedRows:
    """Files that are read in one piece each, since quoted values may have line breaks."""
    files = spark.read.format("binaryFile").load(paths).select("content")
    return _csv(csv.parse_csv_whole(files, header, contract), header, contract)


def _csv(frame: DataFrame, header: Sequence[str], contract: EventContract) -> ParsedRows:
    raw = csv.raw_csv(header, sql.name(LINE))
    return ParsedRows(frame, text_types(contract.columns), contract, raw, (LINE,))


def _lines(lines: DataFrame) -> DataFrame:
    """A file may begin with a byte order mark."""
    marked = f"startswith(value, '{_BOM}') AND input_file_block_start() = 0"
    return lines.selectExpr(f"if({marked}, substring(value, 2), value) AS {sql.name(LINE)}")


def _without_header(lines: DataFrame) -> DataFrame:
    """The header is the first line of the first piece of a file."""
    placed = lines.selectExpr(
        "*", "input_file_block_start() AS __start", f"{_POSITION} AS __position"
    )
    return placed.where("NOT (__start = 0 AND __position = 0)").drop("__start", "__position")
