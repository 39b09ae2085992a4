"""Conditions without the names of their events, so that equal ones of many queries are one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from runtime.language import ast as s


@cache
def canonical(expression: s.Expression) -> s.Expression:
    """The condition without the name of its event: conditions of many queries are often one."""
    if isinstance(expression, s.Attribute):
        return replace(expression, owner="")
    return s.with_operands(expression, canonical)
