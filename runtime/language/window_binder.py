"""Binds WITHIN and SLIDE to a window of whole microseconds or whole events."""

from __future__ import annotations

from fractions import Fraction

from runtime.errors import did_you_mean
from runtime.language import ast as s
from runtime.language.error_collector import ErrorCollector
from runtime.language.window import WINDOW_KINDS, TimeWindow, Window

KIND_OF_UNIT = {unit: kind for kind in WINDOW_KINDS for unit in kind.units}
LONGEST = 2**62
MOST_OPEN = 100_000


def resolve_window(
    within: s.Duration, slide: s.Duration | None, report: ErrorCollector
) -> Window | None:
    long = _length(within, report)
    step = _length(slide, report) if slide is not None else long
    if long is None or step is None:
        return None
    at = slide if slide is not None else within
    kind = KIND_OF_UNIT[within.unit]
    if kind is not KIND_OF_UNIT[at.unit]:
        report("WITHIN and SLIDE must both be times or both be events", at.span)
    elif step > long:
        message = "SLIDE is longer than WITHIN, so events between windows would be lost"
        report(message, at.span, "SLIDE can be at most as long as WITHIN")
    elif long // step > MOST_OPEN:
        message = f"every event would be in {long // step:,} windows; {MOST_OPEN:,} is the most"
        report(message, at.span, "choose a longer SLIDE")
    else:
        return kind(long, step)
    return None


def parse_duration(text: str) -> int | None:
    """`10s` or `1.5 minutes` as microseconds, as written on the command line."""
    number = text.strip().rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = text.strip()[len(number) :].strip()
    try:
        length = Fraction(number) * TimeWindow.units[unit]
    except (ValueError, KeyError):
        return None
    return int(length) if length.denominator == 1 and length >= 0 else None


def _length(duration: s.Duration, report: ErrorCollector) -> int | None:
    kind = KIND_OF_UNIT.get(duration.unit)
    if kind is None:
        known = ("ms", "seconds", "minutes", "hours", "days", "events")
        hint = did_you_mean(duration.unit, known) if len(duration.unit) > 1 else None
        report(
            f"unknown unit `{duration.unit}`",
            duration.unit_span,
            hint or f"one of {', '.join(known)}",
        )
        return None
    scale, smallest = kind.units[duration.unit], kind.smallest
    if duration.number == 0:
        report("WITHIN and SLIDE must be more than zero", duration.span)
        return None
    if duration.number * scale > LONGEST:
        report(f"this is more than {LONGEST:,} {smallest}, which is the most", duration.span)
        return None
    length = Fraction(str(duration.number)) * scale
    if length.denominator != 1:
        report(f"WITHIN and SLIDE must be a whole number of {smallest}", duration.span)
        return None
    return int(length)
