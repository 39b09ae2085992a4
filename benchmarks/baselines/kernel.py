"""How kernels of baselines are compiled: without counting references to the arrays that one
function gives to another, which takes longer than most of them do. So none of them allocates."""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
#: What is too small to be called: a call passes every array as seven numbers.
inlined = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)
#: Sums may be added up in any order, so that several are at a time.
summing = njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    _nrt=False,
    fastmath={"reassoc", "nsz", "contract"},
)
