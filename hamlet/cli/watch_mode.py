"""A run whose query file is watched: a mistake in the file is told, and does not end the run.

Who mends the file may be asleep, or have no way to start the run again. So it goes on with the
queries of its checkpoint, or waits where it has none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import typer

from hamlet.cli.exit_codes import INTERRUPTED, mistake
from hamlet.cli.signals import Stop
from hamlet.cli.stderr import Notices
from runtime.errors import HamletError, WorkloadError
from runtime.language.query import Workload
from runtime.pipeline.blob_store import Folder
from runtime.pipeline.checkpoint import Checkpoints

LOOK_SECONDS = 0.5


def run_watched(
    path: Path,
    read: Callable[[], Workload],
    run: Callable[[Workload], None],
    checkpoint: str | None,
    notices: Notices,
) -> None:
    """Runs what `read` gives, and again when the file has changed after queries that do not even
    fit the input."""
    while True:
        seen = _bytes(path)
        try:
            run(_readable(read, path, checkpoint, notices))
            return
        except WorkloadError as error:
            _await_other(path, seen, error, notices)


def _readable(
    read: Callable[[], Workload], path: Path, checkpoint: str | None, notices: Notices
) -> Workload:
    while True:
        seen = _bytes(path)
        try:
            return read()
        except HamletError as error:
            kept = None if checkpoint is None else Checkpoints(Folder(checkpoint)).last()
            if kept is not None:
                _tell(error, notices, "the queries are those of the checkpoint until it is mended")
                return kept.workload
            _await_other(path, seen, error, notices)


def _await_other(path: Path, seen: bytes | None, error: HamletError, notices: Notices) -> None:
    """Nothing has been started yet, so that a signal ends it at once."""
    with closing(Stop()) as stop:
        stop.listen()
        _tell(error, notices, f"waiting for {path} to be mended")
        while _bytes(path) == seen:
            if stop():
                raise typer.Exit(INTERRUPTED if stop.interrupted else 0)
            time.sleep(LOOK_SECONDS)


def _tell(error: HamletError, notices: Notices, then: str) -> None:
    """The mistake as it stands, line by line: a caret means nothing within a line of a log."""
    typer.echo(mistake(error), err=True)
    notices.warn(then)


def _bytes(path: Path) -> bytes | None:
    """None where it cannot be read: links of a ConfigMap are swapped, and it may come later."""
    try:
        return path.read_bytes()
    except OSError:
        return None
