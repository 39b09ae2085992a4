"""Streams written as in the papers: `a1 b2` is an event of type A at time 1, then a B at 2."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from runtime.pipeline.engine import aggregate


def stream(text: str, **attributes: Sequence[Any]) -> pa.Table:
    tokens = text.split()
    columns = {name: list(values) for name, values in attributes.items()}
    return pa.table(
        {
            "time": [int(token[1:]) for token in tokens],
            "type": [token[0].upper() for token in tokens],
            **columns,
        }
    )


def rows(query: str, table: pa.Table, **options: Any) -> list[dict[str, Any]]:
    (result,) = aggregate(query, table, **options).values()
    return result.to_pylist()


def count(
    pattern: str,
    text: str,
    semantics: str = "skip-till-any-match",
    where: str = "",
    attributes: Mapping[str, Sequence[Any]] | None = None,
    **options: Any,
) -> int:
    """The number of trends of a short stream, in one window that holds all of it."""
    clause = f"WHERE {where}" if where else ""
    query = f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics} {clause} WITHIN 100 s"
    found = rows(query, stream(text, **(attributes or {})), numeric="exact", **options)
    return int(found[0]["COUNT(*)"]) if found else 0
