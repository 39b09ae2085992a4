"""Prints notices and warnings on standard error. Standard output has only results."""

from __future__ import annotations

import sys
from contextlib import suppress
from logging import WARNING

import typer
from rich.console import Console
from rich.text import Text

from hamlet.logs import log


class StderrConsole(Console):
    """Falls silent when the reader of standard error goes away, as in `2> >(head -1)`. The parent
    class would send standard output to nowhere, and end the thread that had something to print."""

    def __init__(self) -> None:
        super().__init__(stderr=True, highlight=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        self.quiet = True


def print_plain(text: str) -> None:
    """Prints the text as it is. Whether anybody reads it changes nothing else."""
    with suppress(BrokenPipeError):
        typer.echo(text, err=True)


class Notices:
    """Prints lines on standard error, unless `quiet`."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = StderrConsole()

    def say(self, line: str = "") -> None:
        self._print(Text(one_line(line)))

    def warn(self, line: str) -> None:
        self._print(Text.assemble(("warning: ", "bold yellow"), one_line(line)))

    def stage(self, what: str, seconds: float) -> None:
        """Says what a job does now, and how many seconds after it began to start."""
        self._print(Text(f"{seconds:5.1f} s  {one_line(what)}"))

    @property
    def live(self) -> bool:
        """Whether standard error is a terminal on which progress can be shown."""
        return not self.quiet and sys.stderr.isatty()

    def _print(self, text: Text) -> None:
        if not self.quiet:
            self.console.print(text)


class LoggedNotices(Notices):
    """Writes notices as log lines, each with its time."""

    def say(self, line: str = "") -> None:
        if line and not self.quiet:
            log("notice", text=line)

    def warn(self, line: str) -> None:
        if not self.quiet:
            log("warning", WARNING, text=line)

    def stage(self, what: str, seconds: float) -> None:
        if not self.quiet:
            log("stage", text=what, seconds=round(seconds, 1))

    @property
    def live(self) -> bool:
        return False


def pluralize(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def one_line(text: str) -> str:
    """Escapes control characters: text from an input must not break tables or control the
    terminal."""
    return text if text.isprintable() else "".join(_printable(each) for each in text)


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]
