"""Parses a stream specification: `ridesharing?events=20000&burst=20&share=Travel:0.6`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from runtime.errors import InputError, did_you_mean

EVENTS = 10_000


def parse_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """The name of a stream and the parameters for `generate`."""
    name, _, query = spec.strip().partition("?")
    parameters: dict[str, Any] = {"events": EVENTS}
    seen: set[str] = set()
    for part in filter(None, query.split("&")):
        key, value = _pair(part)
        if key in seen:
            raise InputError(f"`{key}` is given twice in `{spec}`")
        seen.add(key)
        parameters[key] = _READERS[key](key, value)
    return unquote(name), parameters


def split_pace(spec: str) -> tuple[str, float | None]:
    """The specification without `pace`, and the pace: events per second of wall-clock time."""
    name, mark, query = spec.partition("?")
    parts = [part for part in query.split("&") if part]
    paces = [part for part in parts if part.partition("=")[0].strip() == "pace"]
    rest = name + mark + "&".join(part for part in parts if part not in paces)
    if not paces:
        return rest, None
    pace = _number("pace", paces[-1].partition("=")[2])
    if not pace > 0:
        raise InputError(f"`pace` is {pace:g}", "events a second, more than 0")
    return rest, pace


def _pair(part: str) -> tuple[str, str]:
    key, equals, value = part.partition("=")
    key, value = unquote(key).strip(), unquote(value).strip()
    if key not in _READERS:
        raise InputError(f"unknown parameter `{key}`", did_you_mean(key, [*_READERS, "pace"]))
    if not equals or not value:
        raise InputError(f"`{key}` has no value", f"write {key}=...")
    return key, value


def _whole(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"`{key}` is {text}", "expected a whole number") from None


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"`{key}` is {text}", "expected a number") from None


def _text(key: str, text: str) -> str:
    return text


def _shares(key: str, text: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, colon, value = part.partition(":")
        name = name.strip()
        if not colon or not name:
            raise InputError(f"`{key}` is {text}", "expected TYPE:SHARE,TYPE:SHARE")
        if name in shares:
            raise InputError(f"`{key}` names `{name}` twice")
        shares[name] = _number(f"share of {name}", value)
    return shares


_READERS: Mapping[str, Callable[[str, str], object]] = {
    "events": _whole,
    "seed": _whole,
    "rate": _number,
    "burst": _number,
    "groups": _whole,
    "share": _shares,
    "start": _text,
}
