"""How the kernels of this folder are compiled.

None of them allocates, so reference counts are off: numba would count every array at every call,
which costs several times the work itself.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
}

# What Python calls.
entry: Any = njit(**_OPTIONS)
# Without the code that would let Python call them, the others are compiled in far less time.
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
compiled: Any = njit(**_INNER)
# Parts of a kernel that take many arrays: handing those on would cost more than the work.
inlined: Any = njit(**_INNER, forceinline=True)
# Sums that may be taken in any order, so that they become vector code.
summing: Any = njit(**_INNER, fastmath={"reassoc"})
