"""Where the random cases take their choices from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Size:
    """How large a case may be. Time grows with 2^load."""

    queries: int = 3
    events: int = 14
    load: int = 9  # events in one partition and window
    leaves: int = 6  # in one pattern
    depth: int = 3  # of one pattern
    overlap: int = 4  # windows that hold one event


class Tape:
    """Choices, a byte for each; behind the end it is always the first choice.

    Hypothesis draws a case as one row of bytes: of every six cases that it draws choice by choice,
    five are mutants of the sixth. It shrinks bytes towards zero, which is the first choice, so that
    comes first which is simplest to read. Queries and events have pieces of their own, so that one
    can shrink while the others stay.
    """

    def __init__(self, data: bytes) -> None:
        self.data = iter(data)

    def piece(self, length: int) -> "Tape":
        return Tape(bytes(next(self.data, 0) for _ in range(length)))

    def number(self, low: int, high: int) -> int:
        return low + next(self.data, 0) % (high - low + 1)

    def chance(self, percent: int) -> bool:
        return self.number(1, 100) > 100 - percent

    def one_of(self, *choices: T) -> T:
        return choices[self.number(0, len(choices) - 1)]

    def some_of(self, choices: Sequence[T], count: int) -> tuple[T, ...]:
        """Up to `count` different choices, in the order drawn."""
        drawn = [self.one_of(*choices) for _ in range(count if choices else 0)]
        return tuple(dict.fromkeys(drawn))
