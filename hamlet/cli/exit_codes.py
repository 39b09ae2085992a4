"""Turns errors into messages and exit codes.

0 done, 1 an error of the user, 2 a failure of Hamlet or of its environment, 130 and 143 interrupted
by Ctrl-C and SIGTERM. A note of an error is its last line: what was kept, and how to go on.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from hamlet.cli.stderr import print_plain
from runtime.errors import Failure, HamletError, QueryError, WorkloadError, is_environment

USER_ERROR, FAILURE, INTERRUPTED, TERMINATED = 1, 2, 130, 143

# Typer exits with 2 for a wrong option, so a failure has another number until the very end.
_FAILURE = 70
_TYPER_USAGE_ERROR = 2
_DEBUG = "hamlet.debug"
# pydantic, with which Typer reads options, puts this before the messages of others.
_PREFIX = "Value error, "


def remember_debug(context: typer.Context, wanted: bool) -> bool:
    """The callback of `--debug`."""
    context.meta[_DEBUG] = wanted or context.meta.get(_DEBUG, False)
    return wanted


def exit_with(code: int) -> typer.Exit:
    """An exit with one of the codes above, whatever Typer means by that number."""
    return typer.Exit(_FAILURE if code == FAILURE else code)


class HamletGroup(TyperGroup):
    """Prints errors in a line or two; with `--debug`, with the traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            with _ended_by_sigterm():
                return super().main(*args, **options)
        except SystemExit as end:
            code = {_TYPER_USAGE_ERROR: USER_ERROR, _FAILURE: FAILURE}.get(end.code or 0, end.code)  # type: ignore[arg-type]
            sys.exit(code)

    def make_context(self, *args: Any, **options: Any) -> Any:
        try:
            return super().make_context(*args, **options)
        except KeyboardInterrupt as error:  # Typer would exit without a message
            print_plain("interrupted")
            raise typer.Exit(INTERRUPTED) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except HamletError as error:
            _print_error(error_text(error), ctx, error)
            failed = isinstance(error, Failure)
            raise typer.Exit(_FAILURE if failed else USER_ERROR) from error
        except KeyboardInterrupt as error:
            _print_error("interrupted", ctx, error)
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError as error:
            _drop_stdout()
            raise typer.Exit from error
        except OSError as error:
            _print_error(f"error: {_os_error_text(error)}", ctx, error)
            raise typer.Exit(_FAILURE if is_environment(error) else USER_ERROR) from error
        except Exception as error:
            if _is_typer_error(error):
                _without_prefix(error)
                raise
            _print_error(internal_error_text(error), ctx, error)
            raise typer.Exit(_FAILURE) from error


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Makes SIGTERM end a command like Ctrl-C: every open `with` is closed."""
    if threading.current_thread() is not threading.main_thread():  # no signals elsewhere
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    sys.exit(TERMINATED)


def error_text(error: HamletError) -> str:
    if isinstance(error, WorkloadError):
        count = len(error.errors)
        return f"{error.render()}\n\n{count} {'error' if count == 1 else 'errors'}"
    return error.render() if isinstance(error, QueryError) else f"error: {error.render()}"


def internal_error_text(error: Exception) -> str:
    message = " ".join(str(error).split())
    what = f"{type(error).__name__}: {message}" if message else type(error).__name__
    hint = "This is a bug in Hamlet. Run again with --debug to see the traceback."
    return f"internal error: {what}\n{hint}"


def _os_error_text(error: OSError) -> str:
    """What the operating system refused: a full disk, a missing permission."""
    what = error.strerror or str(error)
    return what if error.filename is None else f"{error.filename}: {what}"


def _drop_stdout() -> None:
    """The reader is gone (`| head`), which is not an error. Python flushes once more when it exits;
    this sends that to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _print_error(message: str, ctx: Any, error: BaseException) -> None:
    if ctx.meta.get(_DEBUG, False):
        traceback.print_exc()
    for line in (message, *getattr(error, "__notes__", ())):
        print_plain(line)


def _is_typer_error(error: Exception) -> bool:
    """Typer handles usage errors, `Exit` and `Abort` itself."""
    usage = typer.BadParameter.__mro__[2]
    return isinstance(error, usage | typer.Exit | typer.Abort)


def _without_prefix(error: Exception) -> None:
    if isinstance(error, typer.BadParameter):
        error.message = error.message.removeprefix(_PREFIX)
