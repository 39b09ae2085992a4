"""Removes event names from conditions, so that equal conditions of many queries are equal."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from runtime.language import ast as s


@cache
def canonical(expression: s.Expression) -> s.Expression:
    """The condition without the name of its event."""
    if isinstance(expression, s.Attribute):
        return replace(expression, owner="")
    return s.with_operands(expression, canonical)
