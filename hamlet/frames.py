"""`hamlet.aggregate`: over a table in this process, or over a frame of Spark as a job on Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.errors import HamletError
from runtime.pipeline import engine

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from runtime.language.query import Workload

_CONNECT, _PANDAS, _CLASSIC = "pyspark.sql.connect", "pyspark.pandas", "pyspark."


def aggregate(
    workload: Workload | str, input: pa.Table | DataFrame, **options: Any
) -> dict[str, Any]:
    """The results of every query over a whole table, or over a whole frame of Spark.

    The options of a table are those of `Engine`. A frame also has `results="spark"`, for results as
    frames, `actors`, `checkpoint` and `planner`.
    """
    if not is_frame(input):
        return engine.aggregate(workload, input, **options)
    check_frame(input)
    from hamlet.frame_job import FrameOptions, aggregate_frame

    if input.isStreaming:
        raise HamletError(
            "the frame is a stream, which has no end", "hamlet.stream aggregates a stream"
        )
    return aggregate_frame(workload, input, FrameOptions(**options))


def is_frame(input: object) -> bool:
    """Whether it is a frame of any kind of Spark. Nobody needs Spark to find out."""
    return type(input).__module__.startswith(_CLASSIC)


def check_frame(input: object) -> None:
    """Refuses frames whose JVM is out of reach."""
    module = type(input).__module__
    if module.startswith(_CONNECT):
        raise HamletError(
            "the frame is of Spark Connect, whose executors hand no rows over to Ray",
            "make it on a classic session, such as that of hamlet.session()",
        )
    if module.startswith(_PANDAS):
        raise HamletError("the frame is of pandas on Spark", "pass frame.to_spark()")
