"""Makes a safe file name for each query."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from runtime.pipeline.blob_store import CorruptCheckpoint

_LONGEST = 150


class FileNames:
    """Unique file names of queries that every file system accepts.

    Letters, digits, `.`, `-` and `_` stay; others are percent-encoded (`a%20b`). `known` has names
    that an earlier run chose, from its checkpoint.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._names = dict(known or {})
        for name in self._names.values():
            if not _is_safe(name):
                raise CorruptCheckpoint(f"{name!r} cannot be the name of a file with results")
        self._taken = {name.casefold() for name in self._names.values()}

    def of(self, queries: Iterable[str]) -> dict[str, str]:
        """The names of these queries, and all that were chosen before."""
        for query in queries:
            self[query]
        return dict(self._names)

    def __getitem__(self, query: str) -> str:
        if query not in self._names:
            self._names[query] = self._unique(query)
        return self._names[query]

    def _unique(self, query: str) -> str:
        name = safe_name(query)
        # Some file systems treat `Trips` and `trips` as the same name.
        if name.casefold() in self._taken:
            name = f"{name}~{hashlib.sha256(query.encode()).hexdigest()[:8]}"
        self._taken.add(name.casefold())
        return name


def safe_name(query: str) -> str:
    name = "".join(_safe(char) for char in query)
    if name.startswith((".", "_")):  # hidden, and reserved for `_late` and `_dead_letter`
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name.encode()) <= _LONGEST:
        return name or "%"
    short = name.encode()[: _LONGEST - 9].decode("utf-8", "ignore")
    return f"{short}~{hashlib.sha256(query.encode()).hexdigest()[:8]}"


def _is_safe(name: str) -> bool:
    """Whether `safe_name` could have made it."""
    characters = all(char.isalnum() or char in "._-%~" for char in name)
    return characters and name != "" and not name.startswith((".", "_"))


def _safe(char: str) -> str:
    if char.isalnum() or char in "._-":
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode())
