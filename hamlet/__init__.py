"""Hamlet: aggregates over all trends that Kleene patterns match in a stream.

import hamlet

workload = hamlet.parse(open("workload.sase").read())
tables = hamlet.aggregate(workload, events)      # {query name: pyarrow.Table}

`events` is a table, or a DataFrame of Spark.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hamlet.frame_stream import EpochTables, StreamingJob, stream
    from hamlet.frames import aggregate
    from hamlet.spark_session import session, stop_session
    from runtime.errors import HamletError, InputError, QueryError, WorkloadError
    from runtime.language.parser import parse
    from runtime.language.query import Query, Workload
    from runtime.pipeline.engine import Engine
    from runtime.plan.explain import explain
    from runtime.plan.planner import plan
    from runtime.plan.policy import Policy
    from runtime.plan.sharing_plan import QuerySet, SharedPart, SharingPlan
    from runtime.plan.statistics import Statistics
    from spark_ingest.user_session import spark_settings
else:
    # Loaded when first used: the engine takes a while to load, and Ctrl-C must work meanwhile.
    _MODULES = {
        "Engine": "runtime.pipeline.engine",
        "aggregate": "hamlet.frames",
        **dict.fromkeys(("EpochTables", "StreamingJob", "stream"), "hamlet.frame_stream"),
        **dict.fromkeys(("session", "stop_session"), "hamlet.spark_session"),
        "spark_settings": "spark_ingest.user_session",
        **dict.fromkeys(
            ("HamletError", "InputError", "QueryError", "WorkloadError"), "runtime.errors"
        ),
        "explain": "runtime.plan.explain",
        "parse": "runtime.language.parser",
        **dict.fromkeys(("Query", "Workload"), "runtime.language.query"),
        "plan": "runtime.plan.planner",
        "Statistics": "runtime.plan.statistics",
        **dict.fromkeys(("SharingPlan", "QuerySet", "SharedPart"), "runtime.plan.sharing_plan"),
        "Policy": "runtime.plan.policy",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_MODULES[name]), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULES})


__version__ = "0.1.0"

__all__ = [
    "Engine",
    "EpochTables",
    "HamletError",
    "InputError",
    "Policy",
    "Query",
    "QueryError",
    "QuerySet",
    "SharedPart",
    "SharingPlan",
    "Statistics",
    "StreamingJob",
    "Workload",
    "WorkloadError",
    "aggregate",
    "explain",
    "parse",
    "plan",
    "session",
    "spark_settings",
    "stop_session",
    "stream",
]
