"""Maps texts that queries compare between adjacent events to integers, and ranks them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from runtime.execution.column import Ints
from runtime.execution.interner import Interner


class TextDictionary:
    """Contains every text that was ever looked up."""

    def __init__(self) -> None:
        self._known = Interner()
        self._ranks: Ints = np.zeros(0, np.int64)

    def ids(self, column: pa.Array) -> Ints:
        """The id of each text (or bytes); 0 for null."""
        return self._known.ids(column)

    def all(self) -> pa.Array:
        """Every text, in the order of the ids, as bytes."""
        return self._known.binary(np.arange(self._known.size))

    @property
    def ranks(self) -> Ints:
        """For each id, the rank of its text among all of them."""
        size = self._known.size
        if len(self._ranks) != size:
            order = pc.sort_indices(self._known.binary(np.arange(size))).to_numpy()
            self._ranks = np.empty(size, np.int64)
            self._ranks[order] = np.arange(size)
        return self._ranks
