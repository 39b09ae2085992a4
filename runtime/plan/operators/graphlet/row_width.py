"""The number of 64-bit words that a query occupies in a row of state."""

from __future__ import annotations

from runtime.language.query import Fold, Lane, Query


def sums_of(query: Query) -> list[Lane]:
    return [lane for lane in query.lanes if is_sum(lane)]


def mins_of(query: Query) -> list[Lane]:
    return [lane for lane in query.lanes if not is_sum(lane)]


def state_size(query: Query) -> int:
    """The words of a state: its count, its sums, its minima."""
    return 1 + len(query.lanes)


def block_size(query: Query) -> int:
    """The words of a vector."""
    return len(query.template.positions) * state_size(query)


def open_windows(query: Query) -> int:
    """The largest number of windows that are open at once."""
    return query.window.open_at_once


def is_sum(lane: Lane) -> bool:
    return lane.fold is Fold.SUM
