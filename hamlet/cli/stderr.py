"""What is said on standard error, so that standard output holds nothing but results."""

from __future__ import annotations

import sys
from logging import WARNING

from rich.console import Console
from rich.text import Text

from hamlet.logs import log


class Notices:
    """Lines beside the results. Quiet ones are dropped."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)

    def say(self, line: str = "") -> None:
        self._print(Text(one_line(line)))

    def warn(self, line: str) -> None:
        self._print(Text.assemble(("warning: ", "bold yellow"), one_line(line)))

    @property
    def live(self) -> bool:
        """Whether somebody watches: then a bar is worth drawing."""
        return not self.quiet and sys.stderr.isatty()

    def _print(self, text: Text) -> None:
        if not self.quiet:
            self.console.print(text)


class LoggedNotices(Notices):
    """The same as lines of a log, of which each has a time."""

    def say(self, line: str = "") -> None:
        if line and not self.quiet:
            log("notice", text=line)

    def warn(self, line: str) -> None:
        if not self.quiet:
            log("warning", WARNING, text=line)

    @property
    def live(self) -> bool:
        return False


def many(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def one_line(text: str) -> str:
    """Text from an input must not break a table, nor steer the terminal."""
    return text if text.isprintable() else "".join(_printable(each) for each in text)


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]
