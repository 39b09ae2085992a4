"""A stretch of time in the life of an epoch, as traces show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """One stage of an epoch. Times are Unix times."""

    name: str
    began: float
    ended: float
    attributes: Mapping[str, str | int] = field(default_factory=dict)
