"""The interface of decoders, which turn a block from Spark into typed rows.

A decoder is pickled with the task of every block, so it is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from runtime.pipeline.block import RowBlock


@dataclass(frozen=True)
class Origin:
    """Where the rows of a block come from.

    Dead letters name the `source`. `clock` is the source partition whose time the rows advance:
    the slowest one that is not idle holds back the watermark. Blocks with the same `source` are
    pieces of it, in the order of the epoch's blocks.
    """

    source: str
    clock: str = ""
    arrived: float | None = None  #: when the last of them came, as Unix time, if that is known


class Decoder(Protocol):
    def decode(self, table: pa.Table, origin: Origin) -> Iterator[RowBlock]:
        """Rows are numbered from 0 in the block, or by offsets if `numbered`."""

    @property
    def numbered(self) -> bool:
        """Whether rows have numbers of their own, such as offsets."""
