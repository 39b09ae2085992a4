"""Builds Spark SQL: quoted names and literals."""

from __future__ import annotations

from collections.abc import Iterable


def name(column: str) -> str:
    """A column's name, quoted."""
    return "`" + column.replace("`", "``") + "`"


def text(value: str) -> str:
    """A string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def first_of(cases: Iterable[tuple[str, str]], otherwise: str) -> str:
    """The value of the first condition that is true."""
    branches = "".join(f" WHEN {condition} THEN {value}" for condition, value in cases)
    return f"CASE{branches} ELSE {otherwise} END" if branches else otherwise


def named(expression: str, column: str) -> str:
    return f"{expression} AS {name(column)}"


def let(variable: str, value: str, result: str) -> str:
    """A result in which a variable stands for a value, so that Spark computes it once."""
    return f"get(transform(array({value}), {variable} -> {result}), 0)"
