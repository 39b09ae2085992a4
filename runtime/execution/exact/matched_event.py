"""An event as one query of the exact engine sees it."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = tuple[Any, ...]


class MatchedEvent(NamedTuple):
    """An event as one query sees it: the positions it can sit in, as bits, and its values."""

    mask: int
    row: Row
