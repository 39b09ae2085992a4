"""Kernels made to the shape of a workload.

A kernel is a module whose upper-case names marked `# shape` are constants. A copy with other
values is written to the cache folder and imported from there, so that numba compiles it once for
each shape and machine: the second start finds it compiled. Only whole numbers and truth values
go into the copy.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import re
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import numba

from runtime.compiled import extended, prefetch

_SHAPE = re.compile(r"^([A-Z]+) = \S+(  # shape.*)$", re.MULTILINE)
_STRAIGHT = re.compile(r"^# straight-line code from here.*?^# to here$", re.MULTILINE | re.DOTALL)


Shape: TypeAlias = tuple[tuple[str, int], ...]


@cache
def specialised(kernel: Path, shape: Shape, straight: str = "") -> ModuleType:
    """The kernel with these constants, and perhaps with straight-line code in its marked place.
    Its functions compile when they are first called."""
    source = _source(kernel, shape, straight)
    path = _path(kernel, source)
    if not path.exists():
        _write(path, source)
    return _load(path)


def is_compiled(kernel: Path, shape: Shape, straight: str = "") -> bool:
    """Whether such a kernel was compiled on this machine before."""
    path = _path(kernel, _source(kernel, shape, straight))
    return any((path.parent / "__pycache__").glob(f"{path.stem}.run-*.nbi"))


def _source(kernel: Path, shape: Shape, straight: str) -> str:
    values = dict(shape)
    source = _SHAPE.sub(lambda m: f"{m[1]} = {values[m[1]]!r}{m[2]}", kernel.read_text("utf-8"))
    return _STRAIGHT.sub(lambda m: straight, source) if straight else source


def _path(kernel: Path, source: str) -> Path:
    inside = "".join(inspect.getsource(module) for module in (extended, prefetch))
    digest = hashlib.sha256(f"{source}{inside}{numba.__version__}".encode()).hexdigest()[:16]
    return cache_folder() / f"{kernel.stem}_{digest}.py"


def cache_folder() -> Path:
    """HAMLET_CACHE, or the user's cache folder, or a temporary one where neither can be had."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("HAMLET_CACHE") or Path(base) / "hamlet") / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return _temporary()


@cache
def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix="hamlet-kernels-"))


def _write(path: Path, source: str) -> None:
    """Whole or not at all, since others may start at the same time."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(source)
    os.replace(file.name, path)


def _load(path: Path) -> ModuleType:
    name = f"hamlet_kernels_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
