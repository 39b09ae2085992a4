"""Reads the sizes of a benchmark from `HAMLET_BENCH_*` environment variables."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import TypeVar

from runtime.errors import HamletError

Number = TypeVar("Number", int, float)


def whole(name: str, default: int) -> int:
    return _asked(name, default, int, "a whole number above 0, such as 1000000")


def number(name: str, default: float) -> float:
    return _asked(name, default, float, "a number above 0, such as 0.5")


def _asked(name: str, default: Number, read: Callable[[str], Number], wanted: str) -> Number:
    variable = f"HAMLET_BENCH_{name}"
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    try:
        found = read(text)
    except ValueError:
        found = None
    if found is None or not 0 < found < math.inf:
        raise HamletError(f"{variable} is `{text}`", f"expected {wanted}")
    return found
