"""The interface of a system in a benchmark: workload and events in, answers out.

`prepare` runs before the clock starts: it decodes columns, evaluates local conditions and numbers
keys. `run` is timed, from decoded events to the last result, and can be repeated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, TypeAlias

import pyarrow as pa

from runtime.errors import HamletError
from runtime.language.query import Workload

#: By query: `window_start`, `window_end`, the group attributes and the aggregates.
Answers: TypeAlias = dict[str, pa.Table]


class Unsupported(HamletError):
    """A system cannot express a query, with the reason."""


class Prepared(ABC):
    #: The most that the last run stored at a time: aggregates, events, trends, as the papers count.
    state_bytes: int = 0
    #: Other numbers of the last run that a figure shows, by name; what is not known is not in it.
    figures: Mapping[str, float] = {}

    def ready(self) -> None:  # noqa: B027 (most have nothing to make)
        """Makes what the next run needs, before its time is taken."""

    @abstractmethod
    def run(self) -> Answers: ...


class System(ABC):
    name: ClassVar[str]
    about: ClassVar[str]  #: what it does, in a line
    cannot: ClassVar[str]  #: what it cannot express, in a line
    #: In what it is built better than its paper has it, in a line.
    generous: ClassVar[str] = ""

    @abstractmethod
    def prepare(self, workload: Workload, table: pa.Table) -> Prepared:
        """Raises `Unsupported`. Times are microseconds in a column `time`, types in `type`; events
        are in order of time."""
