"""Converts the state of the exact engine to and from lists, text and numbers for JSON.

Counts and sums can have any number of digits, so they are written in hexadecimal, which is read
and written in linear time. Values of events are written unchanged.
"""

from __future__ import annotations

import base64
from typing import Any

from runtime.execution.exact.lanes import Lanes, LaneTotals
from runtime.execution.exact.machine import Machine, TrendState
from runtime.execution.exact.negation_progress import Progress, Thread
from runtime.execution.exact.trends import Trends, Verdict
from runtime.language.automaton import Guard
from runtime.language.query import Fold


def save_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    return value


def load_value(data: Any) -> Any:
    return base64.b64decode(data["bytes"]) if isinstance(data, dict) else data


def save_values(values: tuple[Any, ...]) -> list[Any]:
    return [save_value(value) for value in values]


def load_values(data: list[Any]) -> tuple[Any, ...]:
    return tuple(load_value(value) for value in data)


def save_trends(trends: Trends) -> dict[str, Any]:
    folds = trends.machine.folds
    return {
        "opening": [_save_progress(wait) for wait in trends.opening],
        "partial": [
            [
                list(state.subset.positions),
                state.length,
                save_values(state.kept),
                [_save_progress(wait) for wait in state.waits],
                *_save_bundle(folds, bundle),
            ]
            for state, bundle in trends.partial.items()
        ],
        "finished": [
            [
                [_save_guard(guard) for guard in verdict.ending],
                list(verdict.awaited),
                [_save_progress(wait) for wait in verdict.waits],
                *_save_bundle(folds, bundle),
            ]
            for verdict, bundle in trends.finished.items()
        ],
    }


def load_trends(machine: Machine, data: dict[str, Any]) -> Trends:
    trends = Trends(machine)
    trends.opening = _load_progresses(data["opening"])
    for positions, length, kept, waits, count, lanes in data["partial"]:
        state = TrendState(
            machine.subset(positions), length, load_values(kept), _load_progresses(waits)
        )
        trends.partial[state] = _load_bundle(machine.folds, count, lanes)
    for ending, awaited, waits, count, lanes in data["finished"]:
        guards = tuple(_load_guard(guard) for guard in ending)
        verdict = Verdict(guards, tuple(awaited), _load_progresses(waits))
        trends.finished[verdict] = _load_bundle(machine.folds, count, lanes)
    return trends


def _save_bundle(folds: tuple[Fold, ...], bundle: LaneTotals) -> tuple[str, list[list[Any]]]:
    return hex(bundle.count), [_save_lanes(folds, lanes) for lanes in bundle.lanes]


def _load_bundle(folds: tuple[Fold, ...], count: str, lanes: list[list[Any]]) -> LaneTotals:
    return LaneTotals(int(count, 16), [_load_lanes(folds, one) for one in lanes])


def _save_lanes(folds: tuple[Fold, ...], lanes: Lanes) -> list[Any]:
    pairs = zip(folds, lanes, strict=True)
    return [hex(value) if fold is Fold.SUM else save_value(value) for fold, value in pairs]


def _load_lanes(folds: tuple[Fold, ...], data: list[Any]) -> Lanes:
    pairs = zip(folds, data, strict=True)
    return [int(value, 16) if fold is Fold.SUM else load_value(value) for fold, value in pairs]


def _save_progress(progress: Progress) -> list[Any] | None:
    if progress is None:
        return None
    return [
        [thread.position, save_values(thread.kept), [_save_progress(w) for w in thread.waits]]
        for thread in progress
    ]


def _load_progress(data: list[Any] | None) -> Progress:
    if data is None:
        return None
    return frozenset(
        Thread(position, load_values(kept), _load_progresses(waits))
        for position, kept, waits in data
    )


def _load_progresses(data: list[Any]) -> tuple[Progress, ...]:
    return tuple(_load_progress(one) for one in data)


def _save_guard(guard: Guard) -> list[list[int]]:
    return [sorted(alternative) for alternative in guard]


def _load_guard(data: list[list[int]]) -> Guard:
    return frozenset(frozenset(alternative) for alternative in data)
