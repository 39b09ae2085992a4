"""What an executor saw of its stream and decided: types, bursts, decisions, operator times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from runtime.execution.batch import Batch
from runtime.execution.operator import Operator
from runtime.plan.decisions import Decisions, less, merged
from runtime.plan.observations import Observations, OperatorTime

EXAMPLES = 16  # of the last decisions
# Of so many events of a batch the types are counted.
COUNTED = 16_384


class RunStats:
    """Everything is since it was last taken."""

    def __init__(self) -> None:
        self._of_code: Counter[int] = Counter()
        self._times: dict[Operator, list[int]] = {}
        self._bursts: dict[str, tuple[int, int]] = {}
        self._reported: dict[Operator, Decisions] = {}
        self._of_stopped: list[Decisions] = []

    def count_types(self, batch: Batch) -> None:
        """Of large batches one event in some: a count of all would cost as much as a query."""
        each = 1 + batch.size // COUNTED
        counted = np.bincount(batch.type_places[::each], minlength=len(batch.type_codes))
        for code, count in zip(batch.type_codes.tolist(), counted.tolist(), strict=True):
            self._of_code[code] += each * count

    def add_time(self, operator: Operator, events: int, nanoseconds: int) -> None:
        spent = self._times.setdefault(operator, [0, 0, 0])
        spent[0] += events
        spent[1] += nanoseconds
        spent[2] += 1

    def stop(self, operator: Operator) -> None:
        """An operator makes room for others. What it decided is still reported."""
        decisions = operator.decisions(EXAMPLES)
        if decisions is not None:
            self._of_stopped.append(less(decisions, self._reported.pop(operator, None)))

    def take_decisions(self, operators: Iterable[Operator]) -> list[Decisions]:
        """What operators decided, also those that were stopped meanwhile."""
        found, self._of_stopped = self._of_stopped, []
        now = {each: decided for each in operators if (decided := each.decisions(EXAMPLES))}
        found += [less(decided, self._reported.get(each)) for each, decided in now.items()]
        self._reported = now
        return [each for each in merged(found) if each.types]

    def take(
        self, operators: Collection[Operator], names: Sequence[str], state_bytes: int
    ) -> Observations:
        """What was seen, by the names of type codes. Operators that were stopped meanwhile are
        left out."""
        counts, self._of_code = self._of_code, Counter()
        times, self._times = self._times, {}
        of_bursts = {each: d for each in operators if (d := _over_bursts(each))}
        bursts = _count_bursts(of_bursts.values())
        fresh = {name: _less(now, self._bursts.get(name)) for name, now in bursts.items()}
        self._bursts = bursts
        return Observations(
            {names[code]: count for code, count in counts.items() if code >= 0 and count},
            counts[-1],
            {name: number for name, (number, _) in fresh.items()},
            {name: events for name, (_, events) in fresh.items()},
            tuple(
                OperatorTime(of_bursts[each].queries, *spent)
                for each, spent in times.items()
                if each in of_bursts
            ),
            state_bytes,
        )


def _over_bursts(operator: Operator) -> Decisions | None:
    decisions = operator.decisions(1)
    return decisions if decisions is not None and decisions.over == "bursts" else None


def _count_bursts(several: Iterable[Decisions]) -> dict[str, tuple[int, int]]:
    """The bursts of each type that were decided on, and their events."""
    found: dict[str, tuple[int, int]] = {}
    for decisions in several:
        for each in decisions.types:
            number, events = found.get(each.type, (0, 0))
            found[each.type] = number + each.all, events + each.events
    return found


def _less(now: tuple[int, int], before: tuple[int, int] | None) -> tuple[int, int]:
    """What is new. Operators that were started anew count from zero."""
    if before is None or now < before:
        return now
    return now[0] - before[0], now[1] - before[1]
