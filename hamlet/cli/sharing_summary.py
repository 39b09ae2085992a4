"""What was decided in a run: which bursts were shared, and what that was worth."""

from __future__ import annotations

from collections.abc import Iterable

from hamlet.cli.stderr import Notices
from hamlet.cli.text_table import Grid
from runtime.optimizer.model_report import ModelMetrics
from runtime.plan.decisions import KINDS, Decisions, Timed

EXAMPLES = 3
NAMES = ("type", *KINDS, "events", "snapshots", "benefit", "a shared burst", "a split burst")


def show_decisions(notices: Notices, decided: Iterable[Decisions], model: ModelMetrics) -> None:
    """By which plan, a table for each share group, and a few decisions in words."""
    notices.say(_plan(model))
    told = [group for group in decided if group.types]
    if not told:
        notices.say("nothing to decide: no burst could be shared")
    for number, group in enumerate(told, 1):
        grid = Grid.of(NAMES, _rows(group), set(NAMES[1:]))
        grid.title = ("decisions", f"share group {number} of {len(told)}, in {group.over}")
        for text in grid.texts(terminal=False):
            for line in text.splitlines():
                notices.say(line)
        for example in group.examples[:EXAMPLES]:
            notices.say(f"  {example.told()}")


def _plan(model: ModelMetrics) -> str:
    if not model.planner:
        return "plan: as given" if model.policy else "plan: none, every query runs by itself"
    again, moved = sum(model.replans.values()), model.replans_migrated
    found = f"plan: by {model.planner}, version {model.plan}"
    if again:
        found += f"; planned anew {_times(again)}, changed {_times(moved)}"
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


def _mean(timed: Timed) -> str:
    """Measured, of those that were timed."""
    return "" if timed.mean is None else _time(timed.mean)


def _time(nanoseconds: float) -> str:
    """Predicted, so that two digits are enough."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if abs(nanoseconds) >= size:
            return f"{nanoseconds / size:,.1f} {unit}"
    return f"{nanoseconds:,.0f} ns"
