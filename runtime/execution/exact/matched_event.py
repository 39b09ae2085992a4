"""An event together with the pattern positions that it matches in one query."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = tuple[Any, ...]


class MatchedEvent(NamedTuple):
    """The positions of a query that an event matches, as bits, and the event's values."""

    mask: int
    row: Row
