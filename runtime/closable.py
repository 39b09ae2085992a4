"""A base class for resources that a `with` closes, or aborts after an error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closable(ABC):
    """Closed at the end of a `with`, or aborted if that ends with an error."""

    @abstractmethod
    def close(self) -> None: ...

    def abort(self) -> None:
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abort()
