"""Kernels made to the shape of a workload.

A kernel is a folder of modules. The upper-case names marked `# shape` in one of them are
constants. A copy with other values, perhaps with some modules written anew, goes to the cache
folder and is imported from there, so that numba compiles it once for each shape and machine: the
second start finds it compiled. Only whole numbers and truth values go into the copy.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

import numba

from runtime.cache_dir import cache_of
from runtime.execution import cycle_clock, jit, kernel_args, prefetch, wide_float

# Modules whose code ends up in kernels.
_INSIDE = (wide_float, kernel_args, jit, prefetch, cycle_clock)
_SHAPE = re.compile(r"^([A-Z]+) = \S+(  # shape.*)$", re.MULTILINE)


class Kernel:
    """`shape` are the constants of the module `words`; `written` are modules by their files."""

    def __init__(
        self, folder: Path, words: str, shape: Mapping[str, int], written: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._words = words
        self._shape = shape
        self._written = written

    def load(self, module: str = "") -> ModuleType:
        """The kernel, or one of its modules. Its functions compile when they are first called."""
        if not self._path.exists():
            _write(self._path, self._files)
        kernel = _load(self._path)
        return importlib.import_module(f"{kernel.__name__}.{module}") if module else kernel

    def is_compiled(self, module: str, function: str) -> bool:
        """Whether the kernel was compiled on this machine before."""
        return any((self._path / "__pycache__").glob(f"{module}.{function}-*.nbi"))

    @cached_property
    def _path(self) -> Path:
        inside = "".join(
            inspect.getsource(module)
            for module in (wide_float, kernel_args, jit, prefetch, cycle_clock)
        )
        whole = "".join(f"{name}\n{source}" for name, source in sorted(self._files.items()))
        digest = hashlib.sha256(f"{whole}{inside}{numba.__version__}".encode()).hexdigest()[:16]
        return cache_folder() / f"{self._folder.parent.name}_{digest}"

    @cached_property
    def _files(self) -> dict[str, str]:
        files = dict(_sources(self._folder))
        files[self._words] = _SHAPE.sub(
            lambda m: f"{m[1]} = {self._shape[m[1]]!r}{m[2]}", files[self._words]
        )
        return {**files, **self._written}


@cache
def _sources(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.py"))}


def cache_folder() -> Path:
    return cache_of("kernels")


def _write(path: Path, files: Mapping[str, str]) -> None:
    """Whole or not at all, since others may start at the same time."""
    made = Path(tempfile.mkdtemp(dir=path.parent))
    for name, source in files.items():
        (made / name).write_text(source, encoding="utf-8")
    made.chmod(0o755)
    try:
        os.rename(made, path)
    except OSError:  # somebody else was first
        shutil.rmtree(made)
        if not path.exists():
            raise


@cache
def _load(path: Path) -> ModuleType:
    name = f"hamlet_kernels_{path.stem}"
    spec = importlib.util.spec_from_file_location(
        name, path / "__init__.py", submodule_search_locations=[str(path)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
