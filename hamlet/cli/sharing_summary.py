"""Prints what the optimizer decided in a run: which bursts were shared, and what that saved."""

from __future__ import annotations

from collections.abc import Iterable

from hamlet.cli.stderr import Notices
from hamlet.cli.text_table import TextTable
from runtime.optimizer.model_report import ModelMetrics
from runtime.plan.decisions import KINDS, BurstTiming, Decisions

EXAMPLES = 3
NAMES = ("type", *KINDS, "events", "snapshots", "benefit", "a shared burst", "a split burst")


def show_decisions(notices: Notices, decided: Iterable[Decisions], model: ModelMetrics) -> None:
    """Prints the plan, a table for each share group, and a few decisions in words."""
    notices.say(_plan(model))
    groups = [group for group in decided if group.types]
    if not groups:
        notices.say("nothing to decide: no burst could be shared")
    for number, group in enumerate(groups, 1):
        table = TextTable.of(NAMES, _rows(group), set(NAMES[1:]))
        table.title = ("decisions", f"share group {number} of {len(groups)}, in {group.over}")
        for text in table.texts(terminal=False):
            for line in text.splitlines():
                notices.say(line)
        for example in group.examples[:EXAMPLES]:
            notices.say(f"  {example.describe()}")


def _plan(model: ModelMetrics) -> str:
    if not model.planner:
        return "plan: as given" if model.policy else "plan: none, every query runs by itself"
    again, moved = sum(model.replans.values()), model.replans_migrated
    found = f"plan: by {model.planner}, version {model.plan}"
    if again:
        found += f"; re-planned {_times(again)}, changed {_times(moved)}"
    if model.correlation is not None:
        found += f"; predicted and measured times of bursts correlate by {model.correlation:.2f}"
    return found


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _rows(group: Decisions) -> list[tuple[str, ...]]:
    return [
        (
            each.type,
            *(f"{getattr(each, kind):,}" for kind in KINDS),
            f"{each.events:,}",
            f"{each.snapshots:,}",
            _time(each.benefit),
            _mean(each.time_shared),
            _mean(each.time_split),
        )
        for each in group.types
    ]


def _mean(timed: BurstTiming) -> str:
    """The mean time of the bursts that were measured."""
    return "" if timed.mean is None else _time(timed.mean)


def _time(nanoseconds: float) -> str:
    """Predictions: one decimal is enough."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if abs(nanoseconds) >= size:
            return f"{nanoseconds / size:,.1f} {unit}"
    return f"{nanoseconds:,.0f} ns"
