"""Makes a safe file name for each query."""

from __future__ import annotations

import hashlib

_LONGEST = 150


class FileNames:
    """Unique file names of queries that every file system accepts.

    Letters, digits, `.`, `-` and `_` stay; others are percent-encoded (`a%20b`).
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

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


def _safe(char: str) -> str:
    if char.isalnum() or char in "._-":
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode())
