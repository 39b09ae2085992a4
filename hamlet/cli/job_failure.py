"""Says at the end of a job that failed what was kept, and how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from hamlet.cli.stderr import Notices, one_line
from hamlet.job.epoch_report import EpochReport
from hamlet.job.recovery import explain_error
from runtime.errors import is_user_error

LONGEST = 160


class CommitProgress(Protocol):
    """How far a job came: whether its first epoch began, and the last epoch that it committed."""

    @property
    def running(self) -> bool: ...

    @property
    def last(self) -> EpochReport | None: ...


@contextmanager
def failures_explained(
    progress: CommitProgress, checkpoint: str | None, output: str | None, notices: Notices
) -> Iterator[None]:
    """Adds the last line to an error. An error of the user that is found before the job runs has
    none: nothing was lost. `output` is the folder that already has results, if there is one."""
    try:
        yield
    except Exception as error:
        found = explain_error(error)
        if progress.running or not is_user_error(found):
            found.add_note(last_line(found, progress, checkpoint, output))
        if found is error:
            raise
        raise found from error
    except KeyboardInterrupt as error:
        if progress.running:
            error.add_note(_kept(progress, checkpoint, output))
        raise
    except SystemExit:
        if progress.running:
            notices.say(f"terminated; {_kept(progress, checkpoint, output)}")
        raise


def last_line(
    error: BaseException, progress: CommitProgress, checkpoint: str | None, output: str | None
) -> str:
    then = "then the same command" if is_user_error(error) else "the same command"
    return f"failed: {_what(error)}; {_kept(progress, checkpoint, output, then)}"


def _what(error: BaseException) -> str:
    """The first line of the message, cut short: it was printed in full before."""
    lines = str(error).strip().splitlines()
    text = one_line(lines[0]) if lines else type(error).__name__
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _kept(
    progress: CommitProgress,
    checkpoint: str | None,
    output: str | None,
    then: str = "the same command",
) -> str:
    last = progress.last
    if checkpoint is not None and last is not None:
        return f"kept: the checkpoint of epoch {last.epoch} in {checkpoint}; {then} resumes from it"
    if checkpoint is not None:
        return (
            f"kept: {checkpoint} as it was, since no epoch was committed; {then} resumes from it, "
            "or from the beginning if it is empty"
        )
    if last is not None and output is not None:
        return (
            f"kept: the results in {output}, but no state, for lack of a --checkpoint; {then} "
            "starts from the beginning, with another --output"
        )
    return f"kept: nothing, for lack of a --checkpoint; {then} starts from the beginning"
