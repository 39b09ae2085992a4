"""What figures show, in words, and numbers as people write them."""

from __future__ import annotations

import math

_AXES = {
    "cpu": "CPU time",
    "throughput": "throughput (events/s)",
}
_WITH_UNITS = ("seconds", "bytes", "percent")
_SHORT = ((1e12, 1e12, "T"), (1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))


def axis(shows: str) -> str:
    """A figure of a system's own is called what the system calls it. Units are with the values, but
    for that of a throughput, which is long."""
    return _AXES.get(shows, shows.replace("_seconds", "_time").replace("_", " "))


def tick(value: float, shows: str) -> str:
    """As short as the axis of a plot needs it."""
    return shown(value, shows) if _kind(shows) in _WITH_UNITS else short(value)


def short(value: float) -> str:
    """Ten thousand as 10k."""
    for least, scale, name in _SHORT:
        if abs(value) >= least:
            return f"{value / scale:.4g}{name}"
    return f"{value:.4g}"


def shown(value: float, shows: str) -> str:
    """With its unit, which the name of a system's own figure ends with."""
    match _kind(shows):
        case "seconds":
            return _scaled(value, ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")))
        case "throughput":
            return f"{_large(value)} events/s"
        case "bytes":
            return _scaled(value, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")))
        case "percent":
            return f"{digits(value)}%"
        case _:
            return digits(value)


def _kind(shows: str) -> str:
    if shows in ("latency", "cpu"):
        return "seconds"
    return "bytes" if shows == "memory" else shows.rpartition("_")[2]


def digits(value: float) -> str:
    """Three of them are as many as a measurement has."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    # 9.996 becomes 10.00, which has a digit too many
    places = max(0, 2 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def x(text: str) -> str:
    """A value that a sweep goes through, as it is stored: a number, or a word."""
    number = numeric(text)
    return text if number is None else f"{number:,.10g}"


def numeric(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def times(value: float) -> str:
    """A ratio."""
    return _large(value) if value >= 1e6 else digits(value)


def span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _large(value: float) -> str:
    for least, name in ((1e9, "billion"), (1e6, "million")):
        if value >= least:
            return f"{digits(value / least)} {name}"
    return digits(value)


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    for least, name in units:
        if value >= least:
            return f"{digits(value / least)} {name}"
    least, name = units[-1]
    return f"{digits(value / least)} {name}"
