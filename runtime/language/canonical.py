"""Conditions without the names of their events, so that equal ones of many queries are one."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

from runtime.language import ast as s


@cache
def canonical(expression: s.Expression) -> s.Expression:
    """The condition without the name of its event: conditions of many queries are often one."""
    if isinstance(expression, s.Attribute):
        return replace(expression, owner="")
    changed: dict[str, Any] = {}
    for field in fields(expression):
        value = getattr(expression, field.name)
        if isinstance(value, s.Node):
            changed[field.name] = canonical(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], s.Node):
            changed[field.name] = tuple(canonical(part) for part in value)
    return replace(expression, **changed) if changed else expression
