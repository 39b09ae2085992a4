"""Numbers the rows of a text file that several epochs read.

How many rows a part has is known once it was read, and the next part is read before that. So dead
letters are numbered when their epoch is committed, which happens in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from runtime.pipeline.router import renumbered


@dataclass(frozen=True)
class SourcePart:
    """A part of a source, whose rows are numbered from the part's first one."""

    source: str
    is_last: bool


#: The rows of each source that earlier epochs read, while its last part is still to be read.
RowsBefore = Mapping[str, int]


def numbered_in_source(letters: pa.Table, part: SourcePart | None, before: RowsBefore) -> pa.Table:
    """Dead or late rows of an epoch with their numbers in the whole source."""
    return letters if part is None else renumbered(letters, before.get(part.source, 0))


def rows_after(part: SourcePart | None, rows: int, before: RowsBefore) -> dict[str, int]:
    """The rows of each source after an epoch that read `rows` rows."""
    if part is None:
        return dict(before)
    counted = {**before, part.source: before.get(part.source, 0) + rows}
    if part.is_last:
        del counted[part.source]
    return counted
