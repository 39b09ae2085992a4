"""The parts of an ordered index around a value, as bits: a comparison is a set of them."""

from __future__ import annotations

BELOW, AT, ABOVE = 1, 2, 4
