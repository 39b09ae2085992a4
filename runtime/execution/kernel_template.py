"""Specializes a kernel for the shape of a workload by copying its source with other constants.

A kernel is a folder of modules. The upper-case names marked `# shape` in one of them are constants.
A copy of the folder with other values, and perhaps with some modules rewritten, goes to the cache
folder and is imported from there. So numba compiles it once for each shape and machine, and the
second start finds it compiled. Only integers and booleans are inserted into the copy.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

from runtime.cache_dir import cache_of
from runtime.execution.source_digest import (
    Import,
    absolute_imports,
    digest_of,
    imports_in,
    sources_of,
)

_SHAPE = re.compile(r"^([A-Z]+) = \S+(  # shape.*)$", re.MULTILINE)


class KernelTemplate:
    """A kernel of one shape. `shape` has the constants of the module `record`; `rewritten` has the
    sources of modules by file name."""

    def __init__(
        self, folder: Path, record: str, shape: Mapping[str, int], rewritten: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._record = record
        self._shape = shape
        self._rewritten = rewritten

    def load(self, module: str = "") -> ModuleType:
        """The kernel, or one of its modules. Its functions compile when they are first called."""
        if not self._path.exists():
            _write(self._path, self._files)
        kernel = _load(self._path)
        return importlib.import_module(f"{kernel.__name__}.{module}") if module else kernel

    def is_compiled(self, module: str, function: str) -> bool:
        """Whether the kernel has been compiled on this machine."""
        return any((self._path / "__pycache__").glob(f"{module}.{function}-*.nbi"))

    @property
    def _imports(self) -> frozenset[Import]:
        """The imports from outside the kernel folder."""
        generated = (
            _outside_imports(self._folder.name, name, source)
            for name, source in self._rewritten.items()
        )
        return _imports_of(self._folder).union(*generated)

    @cached_property
    def _path(self) -> Path:
        """The folder of the copy, named by a digest of the copy and its imports."""
        copied = (f"{name}\n{source}" for name, source in sorted(self._files.items()))
        digest = digest_of((), (_digest_of_imports(self._imports), *copied))[:16]
        return cache_folder() / f"{self._folder.parent.name}_{digest}"

    @cached_property
    def _files(self) -> dict[str, str]:
        files = dict(_sources(self._folder))
        files[self._record] = _SHAPE.sub(
            lambda m: f"{m[1]} = {self._shape[m[1]]!r}{m[2]}", files[self._record]
        )
        return {**files, **self._rewritten}


@cache
def _digest_of_imports(imports: frozenset[Import]) -> str:
    """Read once in a process, which has loaded these files: operators are started often."""
    return digest_of(sources_of(imports).values())


@cache
def _imports_of(folder: Path) -> frozenset[Import]:
    """The imports of a kernel folder from outside of it."""
    found = (_outside_imports(folder.name, *each) for each in _sources(folder).items())
    return frozenset[Import]().union(*found)


def _outside_imports(package: str, name: str, source: str) -> frozenset[Import]:
    module = f"{package}.{Path(name).stem}"
    found = absolute_imports(imports_in(source), module, is_package=False)
    return frozenset(each for each in found if each[0].partition(".")[0] != package)


@cache
def _sources(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.py"))}


def cache_folder() -> Path:
    return cache_of("kernels")


def _write(path: Path, files: Mapping[str, str]) -> None:
    """Writes all files or none, since other processes may start at the same time."""
    made = Path(tempfile.mkdtemp(dir=path.parent))
    for name, source in files.items():
        (made / name).write_text(source, encoding="utf-8")
    made.chmod(0o755)
    try:
        os.rename(made, path)
    except OSError:  # another process was first
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
