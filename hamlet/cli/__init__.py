"""The `hamlet` command: a module for each subcommand; `exit_codes` turns errors into exit codes."""

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from hamlet.cli.commands import app as app
else:

    def __getattr__(name: str) -> object:
        if name == "app":
            from hamlet.cli.commands import app

            return app
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Loads the commands inside the `try`, so that Ctrl-C meanwhile prints no traceback."""
    try:
        from hamlet.cli.commands import app

        app(prog_name="hamlet")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except SystemExit as end:
        if end.code in (2, 130, 143):
            _exit_at_once(end.code)
        raise


def _exit_at_once(code: int) -> NoReturn:
    """Everything is closed. Skips Python's own cleanup: Ray may crash in it if one of its processes
    died, or if it was interrupted while it started."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
