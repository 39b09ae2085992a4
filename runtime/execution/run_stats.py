"""What an executor saw of its stream and decided: types, bursts, decisions, the time of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from runtime.execution.batch import Batch
from runtime.execution.operators.graphlet.operator import GraphletRun
from runtime.execution.operators.range_index.operator import OrderedRun
from runtime.plan.decisions import Decisions, less, merged
from runtime.plan.observations import RunTime, Seen

Sharing: TypeAlias = GraphletRun | OrderedRun

TOLD = 16  # of the last examples
# Of so many events of a batch the types are counted.
COUNTED = 16_384


class Watch:
    """Since it was last asked."""

    def __init__(self) -> None:
        self._of_code: Counter[int] = Counter()
        self._times: dict[GraphletRun, list[int]] = {}
        self._known: dict[str, tuple[int, int]] = {}
        self._told: dict[Sharing, Decisions] = {}
        self._of_gone: list[Decisions] = []

    def count(self, batch: Batch) -> None:
        """Of large batches one event in some: a count of all would cost as much as a query."""
        each = 1 + batch.size // COUNTED
        counted = np.bincount(batch.type_places[::each], minlength=len(batch.type_codes))
        for code, count in zip(batch.type_codes.tolist(), counted.tolist(), strict=True):
            self._of_code[code] += each * count

    def timed(self, run: GraphletRun, events: int, nanoseconds: int) -> None:
        spent = self._times.setdefault(run, [0, 0, 0])
        spent[0] += events
        spent[1] += nanoseconds
        spent[2] += 1

    def gone(self, run: Sharing) -> None:
        """A run makes room for others; what it decided is not forgotten."""
        self._of_gone.append(less(run.decisions(TOLD), self._told.pop(run, None)))

    def take_decided(self, runs: Iterable[Sharing]) -> list[Decisions]:
        """What runs decided since the last time, also those that are gone by now."""
        found, self._of_gone = self._of_gone, []
        now = {run: run.decisions(TOLD) for run in runs}
        found += [less(decided, self._told.get(run)) for run, decided in now.items()]
        self._told = now
        return [each for each in merged(found) if each.types]

    def take(self, runs: Collection[GraphletRun], names: Sequence[str], state_bytes: int) -> Seen:
        """What was seen, by the names of codes. Runs that are gone by now are left out."""
        counts, self._of_code = self._of_code, Counter()
        times, self._times = self._times, {}
        bursts = _bursts(runs)
        fresh = {name: _less(now, self._known.get(name)) for name, now in bursts.items()}
        self._known = bursts
        return Seen(
            {names[code]: count for code, count in counts.items() if code >= 0 and count},
            counts[-1],
            {name: number for name, (number, _) in fresh.items()},
            {name: events for name, (_, events) in fresh.items()},
            tuple(
                RunTime(tuple(q.name for q in run.queries), *spent)
                for run, spent in times.items()
                if run in runs
            ),
            state_bytes,
        )


def _bursts(runs: Collection[GraphletRun]) -> dict[str, tuple[int, int]]:
    """The bursts of each type that were decided on, and their events."""
    found: dict[str, tuple[int, int]] = {}
    for run in runs:
        for each in run.decisions().types:
            number, events = found.get(each.type, (0, 0))
            found[each.type] = number + each.all, events + each.events
    return found


def _less(now: tuple[int, int], before: tuple[int, int] | None) -> tuple[int, int]:
    """What is new. Runs that were laid out anew count from zero."""
    if before is None or now < before:
        return now
    return now[0] - before[0], now[1] - before[1]
