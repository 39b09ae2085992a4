"""The values that options can have. An error message lists them."""

from enum import StrEnum


class EngineName(StrEnum):
    LOCAL = "local"
    RAY = "ray"


class Numeric(StrEnum):
    FLOAT = "float"
    EXACT = "exact"


class Sharing(StrEnum):
    DYNAMIC = "dynamic"
    ALWAYS = "always"
    NEVER = "never"


class PlannerChoice(StrEnum):
    AUTO = "auto"
    GREEDY = "greedy"
    SHARON = "sharon"
    GLORIA = "gloria"
    NONE = "none"


class TiesChoice(StrEnum):
    STRICT = "strict"
    ARRIVAL = "arrival"


class TimeUnit(StrEnum):
    S = "s"
    MS = "ms"
    US = "us"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class OutputFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


class DataFormat(StrEnum):
    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"
    ARROW = "arrow"


class TopFormat(StrEnum):
    TABLE = "table"
    JSON = "json"


class ExplainFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    DOT = "dot"
    SVG = "svg"
