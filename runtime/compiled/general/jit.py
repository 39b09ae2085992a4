"""How the kernel is compiled: once, for all queries, and kept on disk.

No function allocates, so none counts references to the arrays it is given: that would double the
code. Numba keeps what it compiled for as long as a function's own file does not change; here
functions of many files end up in one another, so it is kept until any of them changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from numba import njit

from runtime.compiled import extended

# Scalars in a kernel: numba infers what they are, and elements of arrays are no `int` elsewhere.
Int: TypeAlias = Any
Truth: TypeAlias = Any
Double: TypeAlias = Any

Function = TypeVar("Function", bound=Callable[..., Any])
_OPTIONS: Any = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}


def compiled(function: Function) -> Function:
    dispatcher: Any = njit(**_OPTIONS)(function)
    dispatcher._cache._cache_file._source_stamp = _sources()
    return dispatcher  # type: ignore[no-any-return]


@cache
def _sources() -> str:
    files = [Path(extended.__file__), *sorted(Path(__file__).parent.glob("*.py"))]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
