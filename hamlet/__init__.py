"""Hamlet: aggregates over all trends that Kleene patterns match in a stream.

import hamlet

workload = hamlet.parse(open("workload.sase").read())
tables = hamlet.aggregate(workload, events)      # {query name: pyarrow.Table}
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.errors import HamletError, InputError, QueryError, WorkloadError
    from runtime.language.parser import parse
    from runtime.language.query import Query, Workload
    from runtime.pipeline.engine import Engine, aggregate
    from runtime.plan.explain import explain
    from runtime.plan.planner import plan
    from runtime.plan.policy import Policy
    from runtime.plan.sharing_plan import Plan, QuerySet, SharedPart
    from runtime.plan.statistics import Statistics
else:
    # Loaded when first used: the engine takes a while, in which the command can be interrupted.
    _HOMES = {
        **dict.fromkeys(("Engine", "aggregate"), "runtime.pipeline.engine"),
        **dict.fromkeys(
            ("HamletError", "InputError", "QueryError", "WorkloadError"), "runtime.errors"
        ),
        "explain": "runtime.plan.explain",
        "parse": "runtime.language.parser",
        **dict.fromkeys(("Query", "Workload"), "runtime.language.query"),
        "plan": "runtime.plan.planner",
        "Statistics": "runtime.plan.statistics",
        **dict.fromkeys(("Plan", "QuerySet", "SharedPart"), "runtime.plan.sharing_plan"),
        "Policy": "runtime.plan.policy",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES})


__version__ = "0.1.0"

__all__ = [
    "Engine",
    "HamletError",
    "InputError",
    "Plan",
    "Policy",
    "Query",
    "QueryError",
    "QuerySet",
    "SharedPart",
    "Statistics",
    "Workload",
    "WorkloadError",
    "aggregate",
    "explain",
    "parse",
    "plan",
]
