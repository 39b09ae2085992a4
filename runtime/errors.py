"""The errors that users see, with hints and source excerpts."""

from __future__ import annotations

import difflib
import errno
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Longer source lines are cut around the error, longer names within a message are cut off.
WIDEST_LINE = 120
LONGEST_NAME = 60


class HamletError(Exception):
    """An error that the user can fix. The user reads the text of `render`, without a traceback."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def render(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class Failure(HamletError):
    """A permanent failure of Hamlet or its dependencies; the user did nothing wrong."""


def is_user_error(error: object) -> bool:
    """Whether the user can fix it: nothing has failed."""
    return isinstance(error, HamletError) and not isinstance(error, Failure)


class EnvironmentFailure(Failure):
    """A failure of the environment: Ray, Spark, Kafka, the network, a disk, a damaged checkpoint.
    The same command may succeed later."""


class InputError(HamletError):
    """An input that cannot be read at all, as opposed to an invalid row in it."""


# Errors of the machine. The others are about a path or an address, which the user chose.
_OF_THE_MACHINE = frozenset(
    getattr(errno, name)
    for name in (
        *("ENOSPC", "EDQUOT", "EIO", "EROFS", "ENODEV", "ENXIO", "ESTALE", "EBUSY", "EAGAIN"),
        *("ENOMEM", "EMFILE", "ENFILE", "ENOLCK", "EPIPE", "ETIMEDOUT", "ECONNREFUSED"),
        *("ECONNRESET", "ECONNABORTED", "EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN"),
    )
    if hasattr(errno, name)
)


def is_environment(error: OSError) -> bool:
    """Whether the machine or the network failed: a full disk, but not a wrong path."""
    return isinstance(error, TimeoutError) or error.errno in _OF_THE_MACHINE


def os_failure(
    what: str,
    error: OSError,
    hint: str | None = None,
    user_error: type[HamletError] = HamletError,
) -> HamletError:
    """`what` was not possible: a failure of the environment, or else a `user_error`."""
    kind = EnvironmentFailure if is_environment(error) else user_error
    return kind(f"{what}: {error.strerror or error}", hint)


@dataclass(frozen=True)
class ErrorLocation:
    """A span of a query file. Lines and columns count from 1, as in editors."""

    file: str
    line: int
    column: int
    length: int
    source: str

    def excerpt(self) -> tuple[str, str]:
        """The source line and the carets below the span, as a terminal shows them."""
        start = self.column - 1
        first, last = _view(start, len(self.source))
        marked = self.source[start : min(start + self.length, last)]
        before, after = "..." if first else "", "..." if last < len(self.source) else ""
        lead = "".join(map(_blank, before + self.source[first:start]))
        carets = "^" * max(1, sum(map(_cells, marked)))
        return before + printable(self.source[first:last]) + after, lead + carets


class QueryError(HamletError):
    """One error in a query, with its location."""

    def __init__(self, message: str, place: ErrorLocation, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:  # actors raise it across processes
        return (QueryError, (self.message, self.place, self.hint))

    def render(self) -> str:
        at = self.place
        margin = " " * len(str(at.line))
        source, carets = at.excerpt()
        lines = [
            f"{at.file}:{at.line}:{at.column}: error: {_one_line(self.message)}",
            f"  {at.line} | {source}",
            f"  {margin} | {carets}",
        ]
        if self.hint is not None:
            lines.append(f"  {margin} = hint: {_one_line(self.hint)}")
        return "\n".join(lines)


class WorkloadError(HamletError):
    """All errors of a query file, in the order of their locations."""

    def __init__(self, errors: Iterable[QueryError]) -> None:
        by_place = sorted(errors, key=lambda e: (e.place.file, e.place.line, e.place.column))
        self.errors = tuple(by_place)
        super().__init__("\n\n".join(error.render() for error in self.errors))

    def __reduce__(self) -> tuple[Any, ...]:
        return (WorkloadError, (self.errors,))


def printable(text: str) -> str:
    """The text without characters that do not print, or that would print in another position."""
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable() or char == "\t":
        return char
    if unicodedata.category(char) == "Zs":
        return "  " if _is_wide(char) else " "
    return "\ufffd"


def _cells(char: str) -> int:
    """How many terminal columns a character uses when shown."""
    if not char.isprintable():
        return len(_shown(char))
    if _is_wide(char):
        return 2
    return 0 if unicodedata.category(char) in ("Mn", "Me") else 1


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def _blank(char: str) -> str:
    # Tabs are kept, so that the caret is in its column whatever their width.
    return "\t" if char == "\t" else " " * _cells(char)


def _one_line(message: str) -> str:
    """A message on one line, with long names cut short."""
    cut = re.sub(
        rf"`([^`]{{{LONGEST_NAME},}})`", lambda name: f"`{name[1][: LONGEST_NAME - 3]}...`", message
    )
    return printable(cut)


def _view(start: int, length: int) -> tuple[int, int]:
    """The shown part of a line: a third of it before the error, the rest after."""
    if length <= WIDEST_LINE:
        return 0, length
    first = max(0, min(start - WIDEST_LINE // 3, length - WIDEST_LINE))
    return first, first + WIDEST_LINE


def suggest(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The candidate that was probably meant, if one is similar."""
    # Comparing costs the product of the lengths, and names that long are not typing errors.
    pool = sorted({candidate for candidate in candidates if len(candidate) <= LONGEST_NAME})
    if len(name) > LONGEST_NAME:
        return None
    folded = {candidate.lower(): candidate for candidate in pool}
    if name.lower() in folded:
        return folded[name.lower()]
    if len(name) == 1:  # one-letter aliases: the nearest letter
        letters = [candidate for candidate in pool if len(candidate) == 1]
        return min(letters, key=lambda letter: abs(ord(letter) - ord(name)), default=None)
    near = difflib.get_close_matches(name.lower(), list(folded), n=1, cutoff=cutoff)
    return folded[near[0]] if near else None


def check_choice(what: str, value: str | None, known: tuple[str | None, ...]) -> None:
    if value not in known:
        choices = ", ".join(one for one in known if one is not None)
        raise HamletError(f"{what} is `{value}`, but must be one of {choices}")


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint for an unknown name: a similar name, else the first known names."""
    pool = sorted(set(candidates))
    near = suggest(name, pool)
    if near is not None:
        return f"did you mean `{near}`?"
    if not pool:
        return None
    shown = ", ".join(f"`{candidate}`" for candidate in pool[:8])
    return f"there is {shown}" + (", ..." if len(pool) > 8 else "")
