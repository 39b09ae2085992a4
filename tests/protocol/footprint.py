"""What an operation reads and changes, and which operations depend on each other.

Two operations are independent if each has the same result before and after the other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from protocol.world import Operation

#: How it touches something: by its name, by the prefix of names, or by a kind of its own.
Access = tuple[str, str]

_READS, _LISTS, _WRITES = "reads", "lists", "writes"
_INPUT, _OUTPUT, _TIME = "the input", "the output", "the time"
# All their orders are tried: readers see what they do, or they depend on all that others do.
ORDERED = {"publish", "unpublish", "wait"}
# After these, the world is another one.
CHANGING = {"write", "write of owner", "delete", "publish", "unpublish", "report"}


@cache
def accesses(operation: Operation) -> tuple[Access, ...]:
    kind, name, _ = operation
    match kind:
        case "read":
            return ((_READS, name),)
        case "list":
            return ((_LISTS, name),)
        case "write" | "delete":
            return ((_WRITES, name),)
        case "write of owner":
            return (_WRITES, name), (_READS, "owner.json")
        case "input":
            return ((_READS, _INPUT),)
        case "report":
            return ((_WRITES, _INPUT),)
        case "parts":
            return ((_READS, _OUTPUT),)
        case "publish" | "unpublish":
            return ((_WRITES, _OUTPUT),)
        case "point":
            return ()
        case "wait":
            return ((_WRITES, _TIME),)
    raise AssertionError(kind)


@cache
def conflict(one: Access, other: Access) -> bool:
    """Whether they depend on each other."""
    return _changes(one, other) or _changes(other, one)


def _changes(one: Access, other: Access) -> bool:
    (how, name), (seen, place) = one, other
    if how != _WRITES:
        return False
    return name.startswith(place) if seen == _LISTS else name == place


def observed(operation: Operation, names: list[str]) -> list[str]:
    """The files that it sees, of those that there are. One that is lost later, or never seen,
    might as well not have been lost."""
    if operation.kind == "list":
        return [name for name in names if name.startswith(operation.name)]
    return [operation.name] if operation.kind == "read" and operation.name in names else []


class AccessSets:
    """Sets of accesses as bits of a number. In a `lagging` world, operations tell what time it is,
    and whoever writes to a folder also sees what is in it."""

    def __init__(self, lagging: bool) -> None:
        self._lagging = lagging
        self._numbers: dict[Access, int] = {(_WRITES, _TIME): 0}
        self._conflicts: dict[Access, tuple[int, int]] = {}
        #: The set of those that let time pass.
        self.waiting = 1

    def _accesses(self, operation: Operation) -> Iterator[Access]:
        yield from accesses(operation)
        if self._lagging:
            yield _READS, _TIME
            if operation.kind in ("write", "delete"):
                yield _LISTS, operation.name.rpartition("/")[0] + "/"

    def of(self, operation: Operation) -> int:
        found = 0
        for access in self._accesses(operation):
            found |= 1 << self._numbers.setdefault(access, len(self._numbers))
        return found

    def conflict(self, operation: Operation, others: int) -> bool:
        return any(self._conflicting(each) & others for each in self._accesses(operation))

    def _conflicting(self, access: Access) -> int:
        """All known accesses that depend on one."""
        known, found = self._conflicts.get(access, (0, 0))
        if known < len(self._numbers):
            for other, number in list(self._numbers.items())[known:]:
                if conflict(access, other):
                    found |= 1 << number
            self._conflicts[access] = len(self._numbers), found
        return found
