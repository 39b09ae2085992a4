"""Events on their way in: typed, checked, timed and put in order."""

from runtime.events.clock import Clock
from runtime.events.dead import DEAD, dead_rows, dead_source, no_dead, rows_as_json
from runtime.events.kinds import Kind, fits, kind_of
from runtime.events.order import Buffer, Disorder, in_order, ordered
from runtime.events.prepare import TIME, TYPE, Prepared, Preparer
from runtime.events.schema import Schema
from runtime.events.spool import Spool, Store

__all__ = [
    "DEAD",
    "TIME",
    "TYPE",
    "Buffer",
    "Clock",
    "Disorder",
    "Kind",
    "Prepared",
    "Preparer",
    "Schema",
    "Spool",
    "Store",
    "dead_rows",
    "dead_source",
    "fits",
    "in_order",
    "kind_of",
    "no_dead",
    "ordered",
    "rows_as_json",
]
