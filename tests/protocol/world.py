"""The world that runs of a job share: the checkpoint's files, the output, and the input.

A run acts on it by operations, one at a time. Its code is deterministic, so the results of all its
operations so far determine the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from runtime.pipeline.blob_store import check_name

Part = tuple[str, int, str]


#: Does an operation of a run, and returns its result.
Do = Callable[..., Any]


class Operation(NamedTuple):
    kind: str
    name: str = ""
    value: Any = None


@dataclass(frozen=True)
class World:
    """An immutable state. A part has the name of its output, its epoch and its table. Input before
    `gone` was deleted by the user, who may do so as soon as a run reports an epoch that read
    it."""

    files: frozenset[tuple[str, bytes]] = frozenset()
    parts: frozenset[tuple[Part, tuple[tuple[int, int], ...]]] = frozenset()
    gone: int = 0

    #: Whether listings and time depend on the run.
    lagging: ClassVar[bool] = False

    def outcomes(
        self, operation: Operation, actor: str, alive: frozenset[str]
    ) -> list[tuple[str, World, Any]]:
        """What may happen if a run does an operation while others are alive: in a word, the state
        after it, and what it returns."""
        after, result = self.apply(operation)
        return [("", after, result)]

    def apply(self, operation: Operation) -> tuple[World, Any]:
        """The state after an operation, and what the operation returns."""
        kind, name, value = operation
        match kind:
            case "write":
                files = {**dict(self.files), name: value}
                return replace(self, files=frozenset(files.items())), None
            case "write of owner":
                owner, data = value
                owns = dict(self.files).get("owner.json") == owner
                return (self.apply(Operation("write", name, data))[0] if owns else self), owns
            case "delete":
                return self.without(name), None
            case "read":
                return self, dict(self.files).get(name)
            case "list":
                return self, tuple(sorted(each for each, _ in self.files if each.startswith(name)))
            case "input":
                return self, tuple(range(max(value[0], self.gone), value[1]))
            case "report":
                return replace(self, gone=max(self.gone, value)), None
            case "publish":
                parts = {**dict(self.parts), value[0]: value[1]}
                return replace(self, parts=frozenset(parts.items())), None
            case "unpublish":
                parts = {part: rows for part, rows in self.parts if part[1] != value}
                return replace(self, parts=frozenset(parts.items())), None
            case "point":
                return self, None
            case "parts":
                return self, tuple(sorted({part[1] for part, _ in self.parts if part[0] == value}))
        raise AssertionError(kind)

    def without(self, name: str) -> World:
        files = frozenset(each for each in self.files if each[0] != name)
        return replace(self, files=files)

    @property
    def rows(self) -> list[tuple[int, int]]:
        """All rows that a reader of the output sees."""
        return sorted(row for _, rows in self.parts for row in rows)


class Suspended(BaseException):
    """The run wants to do an operation whose result is not known yet."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation


@dataclass
class Replay:
    """Answers operations by the results of an earlier execution, up to the first new one."""

    results: Iterable[Any]
    _left: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self._left = list(self.results)[::-1]

    def __call__(self, kind: str, name: str = "", value: Any = None) -> Any:
        if not self._left:
            raise Suspended(Operation(kind, name, value))
        return self._left.pop()


class ModelStore:
    """A `BlobStore` whose files are in the world."""

    address = "the model"

    def __init__(self, do: Do, durable: bool = True, shared: bool = False) -> None:
        self._do = do
        self.durable = durable
        self.shared = shared

    def create(self) -> None: ...

    def write(self, name: str, *parts: bytes | pa.Buffer, replace: bool = False) -> int:
        data = b"".join(bytes(part) for part in parts)
        self._do("write", check_name(name), data)
        return len(data)

    def read(self, name: str, offset: int = 0, length: int | None = None) -> pa.Buffer:
        data = self._do("read", check_name(name))
        if data is None:
            raise FileNotFoundError(name)
        return pa.py_buffer(data[offset : None if length is None else offset + length])

    def exists(self, name: str) -> bool:
        return self._do("read", check_name(name)) is not None

    def names(self, below: str = "") -> list[str]:
        return list(self._do("list", f"{below}/" if below else ""))

    def delete(self, name: str) -> None:
        self._do("delete", check_name(name))
