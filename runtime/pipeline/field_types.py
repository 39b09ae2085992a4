"""Checks the fields of a dataclass that was made of JSON: anybody may have written the JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

_CONTAINERS = {dict, Counter, tuple, set, list}


def check_fields(value: Any) -> None:
    """Raises TypeError if a field has another type than it declares. Does not look into fields that
    are dataclasses."""
    kind: type = type(value)
    hints = _hints(kind)
    for field in fields(value):
        found = getattr(value, field.name)
        if not _fits(found, hints[field.name]):
            raise TypeError(f"{field.name} is {found!r:.100}")


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is UnionType:
        return any(_fits(value, each) for each in inner)
    if origin in _CONTAINERS:
        return type(value) is origin and _fit_inside(value, inner)
    if hint in (int, str, bool):  # a bool is an int, but not here
        return type(value) is hint
    return isinstance(value, hint)


def _fit_inside(value: Any, inner: tuple[Any, ...]) -> bool:
    if isinstance(value, dict):
        values = inner[1] if len(inner) > 1 else int  # those of a Counter
        return _all_fit(value, inner[0]) and _all_fit(value.values(), values)
    if isinstance(value, tuple) and inner[-1] is not ...:
        pairs = zip(value, inner, strict=False)
        return len(value) == len(inner) and all(_fits(each, hint) for each, hint in pairs)
    return _all_fit(value, inner[0])


def _all_fit(values: Iterable[Any], hint: Any) -> bool:
    return all(_fits(value, hint) for value in values)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
