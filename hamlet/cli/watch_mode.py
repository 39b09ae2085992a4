"""`hamlet run --watch-workload`: an error in the query file is reported and does not end the run.

Whoever corrects the file may be unable to restart the run. So the run goes on with the queries of
its checkpoint, or waits for a correct file if it has none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import typer

from hamlet.cli.exit_codes import INTERRUPTED, error_text
from hamlet.cli.signals import StopSignal
from hamlet.cli.stderr import Notices, print_plain
from runtime.errors import HamletError, WorkloadError
from runtime.language.query import Workload
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore

POLL_SECONDS = 0.5


def run_watched(
    path: Path,
    read: Callable[[], Workload],
    run: Callable[[Workload], None],
    checkpoint: str | None,
    notices: Notices,
) -> None:
    """Runs the queries that `read` returns. If they do not fit the input, waits until the file
    changes and tries again."""
    while True:
        seen = _bytes(path)
        try:
            run(_read_valid(read, path, checkpoint, notices))
            return
        except WorkloadError as error:
            _await_change(path, seen, error, notices)


def _read_valid(
    read: Callable[[], Workload], path: Path, checkpoint: str | None, notices: Notices
) -> Workload:
    while True:
        seen = _bytes(path)
        try:
            return read()
        except HamletError as error:
            kept = None if checkpoint is None else CheckpointStore(BlobStore(checkpoint)).last()
            if kept is not None:
                _report(error, notices, "using the queries of the checkpoint until it is corrected")
                return kept.workload
            _await_change(path, seen, error, notices)


def _await_change(path: Path, seen: bytes | None, error: HamletError, notices: Notices) -> None:
    """Nothing has been started yet, so a signal ends the run at once."""
    with closing(StopSignal()) as stop:
        stop.listen()
        _report(error, notices, f"waiting for {path} to be corrected")
        while _bytes(path) == seen:
            if stop():
                raise typer.Exit(INTERRUPTED if stop.interrupted else 0)
            time.sleep(POLL_SECONDS)


def _report(error: HamletError, notices: Notices, then: str) -> None:
    """Prints the error as plain lines, even with --log: a caret must stay below its text."""
    print_plain(error_text(error))
    notices.warn(then)


def _bytes(path: Path) -> bytes | None:
    """None if the file cannot be read: a ConfigMap is being swapped, or the file comes later."""
    try:
        return path.read_bytes()
    except OSError:
        return None
