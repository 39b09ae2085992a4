"""Hamlet: COUNT, SUM, MIN, MAX and AVG over all trends that Kleene patterns match in a stream.

import hamlet

workload = hamlet.parse(open("workload.sase").read())
tables = hamlet.aggregate(workload, events)      # {query name: pyarrow.Table}
"""

from runtime.engine import Engine, aggregate
from runtime.errors import HamletError, InputError, QueryError, WorkloadError
from runtime.explain import explain
from runtime.language.parser import parse
from runtime.language.query import Query, Workload

__version__ = "0.1.0"

__all__ = [
    "Engine",
    "HamletError",
    "InputError",
    "Query",
    "QueryError",
    "Workload",
    "WorkloadError",
    "aggregate",
    "explain",
    "parse",
]
