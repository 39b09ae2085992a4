"""Maps event types to small integers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.interner import Interner

Codes: TypeAlias = npt.NDArray[np.int32]

# With more type names than this, the dictionary starts over.
_MOST = 65_536


class TypeDictionary:
    """Contains every type that a query ever named; -1 stands for any other type."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._start_over()

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def names(self) -> list[str]:
        """In the order of their codes."""
        return list(self._codes)

    def code(self, name: str) -> int:
        """The code of a type that a query names."""
        if name not in self._codes:
            self._codes[name] = len(self._codes)
            self._remember(name)
        return self._codes[name]

    def of(self, column: pa.Array) -> Codes:
        """The code of each event's type."""
        if isinstance(column, pa.DictionaryArray):
            codes, places = self.encoded(column)
            return codes[places]
        names = self._names.ids(column)
        self._widen()
        found = self._by_name[names]
        if self._names.size > _MOST + len(self._codes):
            self._start_over()
        return found

    def encoded(self, column: pa.Array) -> tuple[Codes, Codes]:
        """The codes of the distinct types, and for each event the index of its type there."""
        names = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        return self.of(names.dictionary), names.indices.to_numpy()

    def _start_over(self) -> None:
        self._names = Interner()
        self._by_name: npt.NDArray[np.int32] = np.zeros(0, np.int32)
        for name in self._codes:
            self._remember(name)

    def _remember(self, name: str) -> None:
        number = self._names.ids(pa.array([name]))[0]
        self._widen()
        self._by_name[number] = self._codes[name]

    def _widen(self) -> None:
        new = self._names.size - len(self._by_name)
        if new:
            self._by_name = np.append(self._by_name, np.full(new, -1, np.int32))
