"""Reads how far the checkpoint of a Spark query is, and refuses one that does not fit the job's.

Spark writes `offsets/N` before it runs batch N, and `commits/N` after it. The job commits the batch
in between: Spark waits for that. So wherever a run was killed, Spark is at the job's batch or has
planned the next one, and repeats the batch that it has not committed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.errors import EnvironmentFailure, HamletError

START_OVER = "start over with another --checkpoint folder"


@dataclass(frozen=True)
class QueryCheckpoint:
    folder: Path
    query: str | None  #: the id that Spark gave to the query; None before its first start
    planned: frozenset[int]  #: batches whose offsets are known; Spark deletes very old ones
    committed: int  #: the last one that Spark committed, or -1

    @classmethod
    def read(cls, folder: Path) -> QueryCheckpoint:
        _refuse_links(folder)
        planned, committed = _batches(folder / "offsets"), _batches(folder / "commits")
        return cls(folder, _query(folder / "metadata"), planned, max(committed, default=-1))

    def check(self, query: str | None, batch: int) -> None:
        """`batch` of `query` is the last one in the job's manifest; -1 if there is none."""
        if batch >= 0 and (self.query is None or batch not in self.planned):
            raise HamletError(
                f"Spark's checkpoint {self.folder} lacks batch {batch}, up to which the job has "
                "read",
                "put the folder back from a copy of the whole checkpoint, or " + START_OVER,
            )
        if query is not None and query != self.query:
            raise HamletError(
                f"Spark's checkpoint {self.folder} is of another query, {self.query}; the job has "
                f"read from {query}",
                "put the folder back from a copy of the whole checkpoint, or " + START_OVER,
            )
        newest = max(self.planned, default=-1)
        if self.committed > batch or newest > batch + 1:
            raise HamletError(
                f"Spark's checkpoint is ahead: {self.folder} has batch "
                f"{max(self.committed, newest - 1)}, but the job has committed {_up_to(batch)}",
                "put back a copy of the whole checkpoint, of one moment; or, if the source still "
                f"has the rows, delete the files above {batch} in {self.folder}/commits and those "
                f"above {batch + 1} in {self.folder}/offsets; or {START_OVER}",
            )


def _up_to(batch: int) -> str:
    return "no batch" if batch < 0 else f"batch {batch}"


def _refuse_links(folder: Path) -> None:
    """Spark would write wherever a link leads."""
    inside = folder.iterdir() if folder.is_dir() and not folder.is_symlink() else ()
    for path in (folder, *inside):
        if path.is_symlink():
            raise HamletError(
                f"{path} is a link, and no link in a checkpoint is followed",
                "put the folder itself in its place",
            )


def _batches(folder: Path) -> frozenset[int]:
    """Besides batches there are checksums, and what was not written to its end."""
    if not folder.is_dir():
        return frozenset()
    return frozenset(int(each.name) for each in folder.iterdir() if each.name.isdecimal())


def _query(file: Path) -> str | None:
    try:
        found: Any = json.loads(file.read_bytes())
        return str(found["id"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise EnvironmentFailure(
            f"{file} is damaged",
            "put the folder back from a copy of the whole checkpoint, or " + START_OVER,
        ) from error
