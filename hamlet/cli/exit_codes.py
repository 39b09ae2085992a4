"""How the command ends: 0 done, 1 the user's mistake, 2 a failure of ours, 130 interrupted."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from runtime.errors import Failure, HamletError, QueryError, WorkloadError

MISTAKE, FAILURE, INTERRUPTED = 1, 2, 130

# Typer ends with 2 for a wrong option, so a failure of ours needs another number until the end.
_OURS = 70
_TYPERS_MISTAKE = 2
_DEBUG = "hamlet.debug"
# What pydantic, by which Typer reads options, puts before a message that is not its own.
_PREFIX = "Value error, "


def remember_debug(context: typer.Context, wanted: bool) -> bool:
    """The callback of `--debug`."""
    context.meta[_DEBUG] = wanted or context.meta.get(_DEBUG, False)
    return wanted


def exit_with(code: int) -> typer.Exit:
    """The end with a code of ours, whatever Typer means by that number."""
    return typer.Exit(_OURS if code == FAILURE else code)


class HamletGroup(TyperGroup):
    """Says what went wrong in a line or two; with `--debug`, with the traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            return super().main(*args, **options)
        except SystemExit as end:
            code = {_TYPERS_MISTAKE: MISTAKE, _OURS: FAILURE}.get(end.code or 0, end.code)  # type: ignore[arg-type]
            sys.exit(code)

    def make_context(self, *args: Any, **options: Any) -> Any:
        try:
            return super().make_context(*args, **options)
        except KeyboardInterrupt as error:  # Typer would end without a word
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except HamletError as error:
            _tell(mistake(error), ctx)
            ours = isinstance(error, Failure)
            raise typer.Exit(_OURS if ours else MISTAKE) from error
        except KeyboardInterrupt as error:
            _tell("interrupted", ctx)
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError as error:
            _drop_stdout()
            raise typer.Exit from error
        except OSError as error:
            _tell(f"error: {_refused(error)}", ctx)
            raise typer.Exit(MISTAKE) from error
        except Exception as error:
            if _is_typers(error):
                _without_prefix(error)
                raise
            _tell(failure(error), ctx)
            raise typer.Exit(_OURS) from error


def mistake(error: HamletError) -> str:
    if isinstance(error, WorkloadError):
        count = len(error.errors)
        return f"{error.render()}\n\n{count} {'error' if count == 1 else 'errors'}"
    return error.render() if isinstance(error, QueryError) else f"error: {error.render()}"


def failure(error: Exception) -> str:
    said = " ".join(str(error).split())
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return (
        f"internal error: {what}\nThis is a fault of Hamlet. Run again with --debug to see where."
    )


def _refused(error: OSError) -> str:
    """What the system would not do: a full disk, a missing right."""
    what = error.strerror or str(error)
    return what if error.filename is None else f"{error.filename}: {what}"


def _drop_stdout() -> None:
    """Nobody reads any more (`| head`), which is no error. Python flushes once more at its end:
    let that go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _tell(message: str, ctx: Any) -> None:
    if ctx.meta.get(_DEBUG, False):
        traceback.print_exc()
    typer.echo(message, err=True)


def _is_typers(error: Exception) -> bool:
    """Usage errors, `Exit` and `Abort` have an end of their own."""
    usage = typer.BadParameter.__mro__[2]
    return isinstance(error, usage | typer.Exit | typer.Abort)


def _without_prefix(error: Exception) -> None:
    if isinstance(error, typer.BadParameter):
        error.message = error.message.removeprefix(_PREFIX)
