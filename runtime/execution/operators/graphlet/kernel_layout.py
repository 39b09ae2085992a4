"""The memory layout of a share group's rows, and the kernel for that shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt

from runtime.execution.kernel_template import KernelTemplate
from runtime.execution.operators.graphlet import codegen
from runtime.execution.operators.graphlet import kernel as generic
from runtime.execution.operators.graphlet.row_layout import RowLayout
from runtime.language.query import Query


@dataclass(frozen=True)
class KernelLayout(RowLayout):
    """A layout with its places in memory and its compiled kernel."""

    # ---- the kernel ------------------------------------------------------------------------

    @cached_property
    def _kernel(self) -> KernelTemplate:
        folder = Path(generic.__file__).parent
        rewritten = {"steps.py": codegen.source(self)} if self.exact else {}
        return KernelTemplate(folder, "record.py", self.shape, rewritten)

    @cached_property
    def kernel(self) -> ModuleType:
        """The kernel of this shape."""
        return self._kernel.load()

    @cached_property
    def places(self) -> ModuleType:
        """The places of words in this shape."""
        return self._kernel.load("record")

    @property
    def is_compiled(self) -> bool:
        """Whether this kernel has been compiled on this machine."""
        return self._kernel.is_compiled("loop", "run")

    # ---- the row ---------------------------------------------------------------------------

    @cached_property
    def windows_at(self) -> list[int]:
        """The start of each row class in the row; after queries come columns, then shared parts."""
        states_at = int(self.places.STATES_AT)
        at = self.columns_at[-1]
        parts = np.cumsum(
            [at, *(row_class.block for row_class in self.all_row_classes[len(self.row_classes) :])]
        )
        return [*(states_at + n for n in self.vectors_at[:-1]), *(int(n) for n in parts)]

    @cached_property
    def columns_at(self) -> list[int]:
        """The start of the columns of each row class's pane operator; 0 for those without."""
        at, found = int(self.places.STATES_AT) + self.vectors_at[-1], []
        for row_class in self.row_classes:
            columns = row_class.states + 1
            pays = row_class.vectors > columns
            found.append(at if pays else 0)
            at += columns * row_class.block if pays else 0
        return [*found, at]

    def words(self, query: Query) -> npt.NDArray[np.int64]:
        """The words of all windows of a query: by window, state and lane."""
        number = self.queries.index(query)
        n = next(n for n, members in enumerate(self.members) if number in members)
        row_class, place = self.row_classes[n], self.members[n].index(number)
        begin = int(self.places.STATES_AT) + self.vectors_at[n]
        lanes = np.arange(place, row_class.state_size, row_class.side)
        states = np.array(self.states[number])[:, None] * row_class.state_size
        of_a_window = (states + lanes).reshape(-1) * row_class.vectors
        return (begin + np.arange(row_class.vectors)[:, None] + of_a_window).reshape(-1)

    @property
    def width(self) -> int:
        return self.windows_at[-1]
