"""Runs the queries of one routing group: events in order in, totals of closed windows out.

A routing group has one set of partition attributes, so the stream is split once for all of its
queries. State is stored by window: when a window closes, its partitions are dropped with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from runtime.execution.exact.machine import Machine
from runtime.execution.exact.matched_event import MatchedEvent, Row
from runtime.execution.exact.state_codec import load_trends, load_values, save_trends, save_values
from runtime.execution.exact.trends import Totals, Trends
from runtime.execution.state_file import StatePart
from runtime.language.query import Query, Semantics
from runtime.language.window import EventWindow, TimeWindow, Window

Key: TypeAlias = tuple[Any, ...]
FOREVER = 2**63


class EventRow(NamedTuple):
    """An event in order: its time (with its arrival, if that orders ties)."""

    instant: tuple[int, int]
    type: str
    row: Row


class WindowTotals(NamedTuple):
    """The totals of one window in one partition, for the merge over partitions."""

    query: str
    window: int
    group: Key
    totals: Totals


class ExactExecutor:
    def __init__(
        self,
        queries: Iterable[Query],
        layout: Mapping[str, int],
        doubles: Set[str],
    ) -> None:
        """`layout` and `doubles` may grow while the executor runs, as queries are added."""
        self._layout = layout
        self._doubles = doubles
        self._runs: dict[str, QueryRun] = {}
        self._key: Sequence[int] = ()
        for query in queries:
            self.add(query)

    def add(self, query: Query, since: int | None = None) -> None:
        """A query that joins late reports only windows that start at `since` or later."""
        self._key = [self._layout[name] for name in query.partition_by]
        machine = Machine(query, self._layout, self._doubles)
        self._runs[query.name] = RUNS[type(query.window)](machine, query.partition_by, since)

    def remove(self, name: str) -> None:
        del self._runs[name]

    def process(self, moments: Iterable[EventRow]) -> None:
        """Processes events in order; all events of one instant come in one call."""
        partitions: dict[Key, list[EventRow]] = {}
        for moment in moments:
            key = tuple([moment.row[i] for i in self._key])
            partitions.setdefault(key, []).append(moment)
        for key, events in partitions.items():
            for instant, group in groupby(events, key=itemgetter(0)):
                together = list(group)
                for run in self._runs.values():
                    run.step(key, instant[0], together)

    def close(self, watermark: int) -> list[WindowTotals]:
        """The windows that end at or before the watermark and the count windows that are full."""
        return [closed for run in self._runs.values() for closed in run.close(watermark)]

    def open_windows(self) -> int:
        return sum(run.open_windows() for run in self._runs.values())

    def save(self) -> Iterator[StatePart]:
        for run in self._runs.values():
            yield from run.save()

    def load(self, part: StatePart) -> None:
        if part.query in self._runs:
            self._runs[part.query].load(part)


class QueryRun(ABC):
    """One query over all partitions. Subclasses decide how windows open and close."""

    def __init__(self, machine: Machine, partition_by: tuple[str, ...], since: int | None) -> None:
        query = machine.query
        self._machine = machine
        self._query = query
        self._since = since
        self._group = [partition_by.index(name) for name in query.group_by]
        self._sees_all = query.semantics is Semantics.CONTIGUOUS
        self._open: dict[int, dict[Key, Trends]] = {}

    @abstractmethod
    def step(self, key: Key, time: int, group: list[EventRow]) -> None:
        """Processes all events of one partition and instant."""

    @abstractmethod
    def close(self, watermark: int) -> list[WindowTotals]:
        """The windows that ended since the last call."""

    def open_windows(self) -> int:
        return len(self._open)

    def save(self) -> Iterator[StatePart]:
        """Parts of a checkpoint: the state of the query, then every open window."""
        yield StatePart("run", self._saved(), self._query.name)
        for window, partitions in self._open.items():
            saved = [[save_values(key), save_trends(t)] for key, t in partitions.items()]
            yield StatePart("window", {"partitions": saved}, self._query.name, window)

    def load(self, part: StatePart) -> None:
        if part.part == "run":
            self._take_up(part.data)
        elif part.window is not None:
            self._open[part.window] = {
                load_values(key): load_trends(self._machine, trends)
                for key, trends in part.data["partitions"]
            }

    def _saved(self) -> dict[str, Any]:
        return {"since": self._since}

    def _take_up(self, data: dict[str, Any]) -> None:
        self._since = data["since"]

    def _seen(self, group: list[EventRow]) -> list[MatchedEvent]:
        mask = self._machine.mask
        return [MatchedEvent(mask(moment.type, moment.row), moment.row) for moment in group]

    def _feed(self, window: int, key: Key, events: list[MatchedEvent]) -> None:
        partitions = self._open.get(window)
        trends = partitions.get(key) if partitions is not None else None
        if trends is None:
            if not any(event.mask & self._machine.waking_bits for event in events):
                return
            trends = Trends(self._machine)
            self._open.setdefault(window, {})[key] = trends
        trends.step(events)

    def _outcome(self, window: int, key: Key, trends: Trends) -> list[WindowTotals]:
        totals = trends.close()
        if totals is None:
            return []
        group = tuple([key[i] for i in self._group])
        return [WindowTotals(self._query.name, window, group, totals)]


class TimeRun(QueryRun):
    """Time windows: an event is in every window that contains its time."""

    def step(self, key: Key, time: int, group: list[EventRow]) -> None:
        events = self._seen(group)
        if self._sees_all or any(event.mask for event in events):
            for window in self._query.window.covering(time):
                if self._since is None or self._query.window.start(window) >= self._since:
                    self._feed(window, key, events)

    def close(self, watermark: int) -> list[WindowTotals]:
        ended = sorted(k for k in self._open if k <= self._query.window.last_until(watermark))
        closed: list[WindowTotals] = []
        for window in ended:
            for key, trends in self._open.pop(window).items():
                closed += self._outcome(window, key, trends)
        return closed


class CountRun(QueryRun):
    """Count windows of n events of a partition: an event is in every window that contains its
    ordinal. A query that joins late counts ordinals from then on."""

    def __init__(self, machine: Machine, partition_by: tuple[str, ...], since: int | None) -> None:
        super().__init__(machine, partition_by, since)
        self._next: dict[Key, int] = {}
        self._full: list[WindowTotals] = []

    def step(self, key: Key, time: int, group: list[EventRow]) -> None:
        if self._since is not None and time < self._since:
            return
        first = self._next.get(key, 0)
        self._next[key] = last = first + len(group)
        events = self._seen(group)
        window = self._query.window
        # From the oldest window of the first event to the newest of the last.
        for k in range(max(0, window.covering(first).start), window.covering(last - 1).stop):
            inside = events[max(0, window.start(k) - first) : window.end(k) - first]
            if self._sees_all or any(event.mask for event in inside):
                self._feed(k, key, inside)
            if window.end(k) <= last:
                self._fill(k, key)

    def _fill(self, k: int, key: Key) -> None:
        trends = self._open.get(k, {}).pop(key, None)
        if trends is not None:
            self._full += self._outcome(k, key, trends)
        if not self._open.get(k, True):
            del self._open[k]

    def close(self, watermark: int) -> list[WindowTotals]:
        full, self._full = self._full, []
        return full

    def _saved(self) -> dict[str, Any]:
        ordinals = [[save_values(key), ordinal] for key, ordinal in self._next.items()]
        return {**super()._saved(), "next": ordinals}

    def _take_up(self, data: dict[str, Any]) -> None:
        super()._take_up(data)
        self._next = {load_values(key): ordinal for key, ordinal in data["next"]}


#: How each kind of window opens and closes.
RUNS: Mapping[type[Window], type[QueryRun]] = {TimeWindow: TimeRun, EventWindow: CountRun}
