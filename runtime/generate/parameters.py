"""Checks the parameters of a stream and fills in defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from runtime.errors import InputError, did_you_mean
from runtime.generate.clock import MINUTE, START, microseconds
from runtime.generate.generated_block import BLOCK
from runtime.generate.lifecycle import Floats, Lifecycle
from runtime.generate.share_bounds import alternating
from runtime.generate.share_solver import fit
from runtime.generate.stream import Stream

MOST_EVENTS = 10**15
MOST_GROUPS = 10_000_000
# A share below this is none.
TINIEST = 1e-7
LATEST = microseconds(datetime(9999, 12, 31, tzinfo=UTC))


@dataclass(frozen=True)
class Parameters:
    """Everything that determines the events of a stream; `flows` between states follow `share`."""

    events: int
    seed: int
    rate: float
    groups: int
    start: datetime
    lengths: Floats
    flows: Floats


def resolve(
    stream: Stream,
    *,
    events: int,
    seed: int,
    rate: float | None,
    burst: float | None,
    groups: int | None,
    share: Mapping[str, float] | None,
    start: datetime | str | None,
) -> Parameters:
    rate = stream.rate if rate is None else rate
    burst = stream.burst if burst is None else burst
    groups = stream.groups if groups is None else groups
    _check(0 <= events <= MOST_EVENTS, "events", events, f"from 0 to {MOST_EVENTS:,}")
    _check(seed >= 0, "seed", seed, "a whole number from 0 on")
    _check(0 < rate < math.inf, "rate", rate, "events a minute, more than 0")
    _check(1 <= burst < math.inf, "burst", burst, "a mean length of runs, at least 1")
    _check(1 <= groups <= MOST_GROUPS, "groups", groups, f"from 1 to {MOST_GROUPS:,}")
    moment = _moment(start)
    _check_end(moment, events, rate)
    lengths, flows = _runs(stream.lifecycle, burst, share)
    return Parameters(events, seed, rate, groups, moment, lengths, flows)


def check_rows(rows: int) -> None:
    _check(1 <= rows <= BLOCK, "batch_rows", rows, f"from 1 to {BLOCK:,}")


def _check(fine: bool, name: str, value: object, expected: str) -> None:
    if not fine:
        raise InputError(f"`{name}` is {value}", f"expected {expected}")


def _moment(start: datetime | str | None) -> datetime:
    if start is None:
        return START
    if isinstance(start, str):
        try:
            start = datetime.fromisoformat(start)
        except ValueError:
            hint = "expected a time such as 2024-01-01T00:00:00Z"
            raise InputError(f"`start` is {start}", hint) from None
    return start.replace(tzinfo=UTC) if start.tzinfo is None else start


def _check_end(start: datetime, events: int, rate: float) -> None:
    # Whole blocks are drawn, and their times must fit as well.
    last = microseconds(start) + (events + BLOCK) * (MINUTE / rate)
    if last > LATEST:
        message = f"{events:,} events at {rate:g} a minute reach beyond the year 9999"
        raise InputError(message, "raise `rate` or lower `events`")


def _runs(
    lifecycle: Lifecycle, burst: float, share: Mapping[str, float] | None
) -> tuple[Floats, Floats]:
    """The mean length of runs in each state, and the flows between states."""
    lengths = lifecycle.lengths(burst)
    shares = _shares(lifecycle, burst, share or {})
    if not share or len(shares) == 1:
        return lengths[lifecycle.type_of], lifecycle.flows
    lengths = alternating(lifecycle, shares, lengths)
    runs = shares / lengths
    fitted = fit(lifecycle.flows, lifecycle.type_of, runs / runs.sum())
    if fitted is None:
        raise InputError("no stream has these shares and bursts", "choose less extreme shares")
    return lengths[lifecycle.type_of], fitted


def _shares(lifecycle: Lifecycle, burst: float, share: Mapping[str, float]) -> Floats:
    """The wanted shares; types that are not named fill the rest in their default proportions."""
    names = lifecycle.type_names
    for name, value in share.items():
        if name not in names:
            raise InputError(f"`share` names an unknown type `{name}`", did_you_mean(name, names))
        _check(0 <= value <= 1, f"share of {name}", value, "a number from 0 to 1")
    rest = 1.0 - sum(share.values())
    free = np.array([name not in share for name in names])
    if rest < -1e-9 or (rest > 1e-9 and not free.any()):
        named = "the shares" if free.any() else "the shares of all types"
        raise InputError(f"{named} add up to {1.0 - rest:g}", "they are parts of 1")
    mix = np.where(free, lifecycle.mix(burst), 0.0)
    filled = mix * max(rest, 0.0) / mix.sum() if free.any() else mix
    shares = filled + np.array([share.get(name, 0.0) for name in names])
    return np.where(shares < TINIEST, 0.0, shares)
