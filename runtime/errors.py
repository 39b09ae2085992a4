"""What can go wrong, said so that the reader can act on it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


class HamletError(Exception):
    """A mistake in what the user gave us. `render` is what the user reads; no traceback needed."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def render(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class InputError(HamletError):
    """An input that cannot be read at all, as opposed to a bad row in it."""


@dataclass(frozen=True)
class Place:
    """A stretch of a query file. Lines and columns count from 1, as editors do."""

    file: str
    line: int
    column: int
    length: int
    source: str

    def caret(self) -> str:
        # Tabs are kept, so that the caret stands under its place whatever their width.
        lead = "".join("\t" if c == "\t" else " " for c in self.source[: self.column - 1])
        width = max(1, min(self.length, len(self.source) - self.column + 1))
        return lead + "^" * width


class QueryError(HamletError):
    """One mistake in a query, with its place."""

    def __init__(self, message: str, place: Place, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.place = place

    def render(self) -> str:
        at = self.place
        margin = " " * len(str(at.line))
        lines = [
            f"{at.file}:{at.line}:{at.column}: error: {self.message}",
            f"  {at.line} | {at.source}",
            f"  {margin} | {at.caret()}",
        ]
        if self.hint is not None:
            lines.append(f"  {margin} = hint: {self.hint}")
        return "\n".join(lines)


class WorkloadError(HamletError):
    """Every mistake of a query file, in the order of their places."""

    def __init__(self, errors: Iterable[QueryError]) -> None:
        self.errors = tuple(sorted(errors, key=lambda e: (e.place.line, e.place.column)))
        super().__init__("\n\n".join(error.render() for error in self.errors))


def suggest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant, if one is near."""
    pool = sorted(set(candidates))
    folded = {candidate.lower(): candidate for candidate in pool}
    if name.lower() in folded:
        return folded[name.lower()]
    if len(name) == 1:  # one-letter aliases: the nearest letter
        letters = [candidate for candidate in pool if len(candidate) == 1]
        return min(letters, key=lambda letter: abs(ord(letter) - ord(name)), default=None)
    near = difflib.get_close_matches(name.lower(), list(folded), n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint for an unknown name: the near one, else what there is."""
    pool = sorted(set(candidates))
    near = suggest(name, pool)
    if near is not None:
        return f"did you mean `{near}`?"
    if not pool:
        return None
    shown = ", ".join(f"`{candidate}`" for candidate in pool[:8])
    return f"there is {shown}" + (", ..." if len(pool) > 8 else "")
