"""The command line: a module for each command; `exits` turns mistakes into exit codes."""

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
    """Loads the commands only now, so that an interrupt meanwhile is no traceback either."""
    try:
        from hamlet.cli.commands import app

        app(prog_name="hamlet")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except SystemExit as end:
        if end.code in (130, 143):
            _leave(end.code)
        raise


def _leave(code: int) -> NoReturn:
    """All is closed. Ray, interrupted while it starts, may crash where Python ends in order."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
