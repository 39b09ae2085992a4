"""The digest of a module's source and of every module of ours that it imports, directly or not.

Compiled code is kept under this digest. It is complete because a compiled function can only use
names that its module defines or imports. Import statements are read from the source instead of
from imported modules: an imported constant does not say where it came from. Statements inside
functions and under `TYPE_CHECKING` count as well.

The statements are found by a regular expression, since parsing the files takes longer than
everything else together; the tests compare what it finds with Python's own parser.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[.\w]+)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n]*)"
    r"|import[ \t]+(?P<modules>[^\n]*))",
    re.MULTILINE,
)
# The modules that compile kernels and pass arrays to them: part of every digest.
_COMMON = ("runtime.execution.jit", "runtime.execution.kernel_args")


# A module and the names imported from it: none for `import a.b`.
Import = tuple[str, tuple[str, ...]]


def source_digest(module: str, file: Path | None = None) -> str:
    """The digest of a module. `file` is its source if it is not found by its name."""
    known = {} if file is None else {module: file}
    return digest_of(sources_of([(module, ())], known).values())


def digest_of(files: Iterable[Path], generated: Iterable[str] = ()) -> str:
    """The digest of files, of generated sources and of the compiler versions."""
    versions = platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__
    digest = sha256(" ".join(versions).encode())
    for content in (*(_read(path).digest for path in files), *map(_digest, generated)):
        digest.update(content)
    return digest.hexdigest()


def sources_of(
    imports: Iterable[Import], known: Mapping[str, Path] | None = None
) -> dict[str, Path]:
    """The files of modules and of their direct and indirect imports from the same packages and the
    runtime: by module, in order."""
    waiting = [*imports, *((module, ()) for module in _COMMON)]
    packages = {_package_of(module) for module, _ in waiting}
    found: dict[str, Path | None] = dict(known or {})
    followed: set[str] = set()
    while waiting:
        module, names = waiting.pop()
        if _package_of(module) not in packages:
            continue
        if module not in followed:
            followed.add(module)
            path = found.setdefault(module, None) or _file_of(module)
            found[module] = path
            if path is not None:
                is_package = path.name == "__init__.py"
                waiting += absolute_imports(_read(path).imports, module, is_package)
        path = found[module]
        if path is None or path.name == "__init__.py":  # the names may be modules
            waiting += ((f"{module}.{name}", ()) for name in names)
    return {module: path for module, path in sorted(found.items()) if path is not None}


def absolute_imports(imports: Iterable[Import], module: str, is_package: bool) -> Iterator[Import]:
    """Imports of a module by full names."""
    for name, names in imports:
        relative = name.lstrip(".")
        if name != relative:
            level = len(name) - len(relative) - is_package
            base = module.rsplit(".", level)[0] if level else module
            yield (f"{base}.{relative}" if relative else base), names
        else:
            yield name, names
            if not names:  # `import a.b.c` binds `a`, through which the others are reached
                yield from ((name.rsplit(".", n)[0], ()) for n in range(1, 1 + name.count(".")))


def imports_in(source: str) -> Iterator[Import]:
    """The imports of a source. May include words that are not module names; these match no file."""
    for found in _IMPORT.finditer(source):
        if found["modules"] is not None:
            yield from ((name, ()) for name in re.findall(r"[.\w]+", found["modules"]))
        else:
            yield found["module"], tuple(re.findall(r"\w+", found["names"]))


class _Source(NamedTuple):
    digest: bytes
    imports: tuple[Import, ...]


def _read(path: Path) -> _Source:
    status = path.stat()
    return _read_version(path, status.st_mtime_ns, status.st_size)


@cache
def _read_version(path: Path, modified: int, size: int) -> _Source:
    source = path.read_text("utf-8")
    return _Source(_digest(source), tuple(imports_in(source)))


def _digest(source: str) -> bytes:
    return sha256(source.encode()).digest()


def _package_of(module: str) -> str:
    return module.partition(".")[0]


def _file_of(module: str) -> Path | None:
    package, _, rest = module.partition(".")
    loaded = sys.modules.get(package)
    for folder in getattr(loaded, "__path__", ()):
        base = os.path.join(folder, *rest.split("."))
        for path in (f"{base}.py", os.path.join(base, "__init__.py")):
            if os.path.isfile(path):
                return Path(path)
    file = getattr(loaded, "__file__", None)
    return Path(file) if file and not rest else None
