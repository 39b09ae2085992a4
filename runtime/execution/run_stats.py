"""The statistics of an executor: event types, bursts, sharing decisions and operator times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from runtime.execution.batch import Batch
from runtime.execution.operator import Operator
from runtime.plan.decisions import Decisions, decisions_since, merge_decisions
from runtime.plan.observations import Observations, OperatorTime

EXAMPLES = 16  # of the last decisions
# A larger batch is sampled: its types are counted in about this many of its events.
COUNTED = 16_384


class RunStats:
    """All numbers are since they were last taken."""

    def __init__(self) -> None:
        self._of_code: Counter[int] = Counter()
        self._times: dict[Operator, list[int]] = {}
        self._bursts: dict[str, tuple[int, int]] = {}
        self._reported: dict[Operator, Decisions] = {}
        self._of_stopped: list[Decisions] = []

    def count_types(self, batch: Batch) -> None:
        """Samples large batches: counting every event would cost as much as a query."""
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
        """Keeps the decisions of an operator that is stopped, so that they are still reported."""
        decisions = operator.decisions(EXAMPLES)
        if decisions is not None:
            self._of_stopped.append(decisions_since(decisions, self._reported.pop(operator, None)))

    def take_decisions(self, operators: Iterable[Operator]) -> list[Decisions]:
        """The decisions of operators, including those stopped since the last call."""
        fresh, self._of_stopped = self._of_stopped, []
        now = {each: made for each in operators if (made := each.decisions(EXAMPLES))}
        fresh += [decisions_since(made, self._reported.get(each)) for each, made in now.items()]
        self._reported = now
        return [each for each in merge_decisions(fresh) if each.types]

    def take_observations(
        self, operators: Collection[Operator], names: Sequence[str], state_bytes: int
    ) -> Observations:
        """`names` are those of the type codes. Operators stopped since the last call are left
        out."""
        counts, self._of_code = self._of_code, Counter()
        times, self._times = self._times, {}
        of_bursts = {each: d for each in operators if (d := _over_bursts(each))}
        bursts = _count_bursts(of_bursts.values())
        fresh = {name: _increase(now, self._bursts.get(name)) for name, now in bursts.items()}
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
    """The bursts of each type with a sharing decision, and their events."""
    counts: dict[str, tuple[int, int]] = {}
    for decisions in several:
        for each in decisions.types:
            number, events = counts.get(each.type, (0, 0))
            counts[each.type] = number + each.all, events + each.events
    return counts


def _increase(now: tuple[int, int], before: tuple[int, int] | None) -> tuple[int, int]:
    """A restarted operator counts from zero again."""
    if before is None or now < before:
        return now
    return now[0] - before[0], now[1] - before[1]
