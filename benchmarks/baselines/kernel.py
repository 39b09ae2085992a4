"""How kernels of baselines are compiled: without counting references to the arrays that one
function gives to another, which takes longer than most of them do. So none of them allocates."""

from __future__ import annotations

from typing import Any

from numba import njit

_OPTIONS: Any = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}

kernel = njit(**_OPTIONS)
#: What is too small to be called: a call passes every array as seven numbers.
inlined = njit(**_OPTIONS, forceinline=True)
#: Sums may be added up in any order, so that several are at a time.
summing = njit(**_OPTIONS, fastmath={"reassoc", "nsz", "contract"})
