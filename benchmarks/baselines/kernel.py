"""How kernels of baselines are compiled: without counting references to the arrays that one
function gives to another, which takes longer than most of them do. So none of them allocates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

_OPTIONS: Any = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}


def kernel(function: Callable[..., Any]) -> Any:
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """What is too small to be called: a call passes every array as seven numbers."""
    return _compiled(function, forceinline=True)


def summing(function: Callable[..., Any]) -> Any:
    """Sums may be added up in any order, so that several are at a time."""
    return _compiled(function, fastmath={"reassoc", "nsz", "contract"})


def _compiled(function: Callable[..., Any], **more: Any) -> Any:
    return njit(**_OPTIONS, **more)(function)
