"""A block of typed rows of one source, with the row numbers and raw text that dead letters need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.pipeline.normalize import Raw


@dataclass(frozen=True)
class RowBlock:
    """A block of rows of one source, read and typed.

    `rows` are their numbers in the source, `dead` are rows that could not be read, and `raw`
    returns rows of the batch as they were read, for a dead letter.
    """

    batch: pa.RecordBatch
    source: str
    rows: npt.NDArray[np.int64]
    dead: pa.Table
    raw: Raw | None = None
