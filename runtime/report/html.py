"""Writes tables and tiles as HTML, with all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

Rows = Iterable[Sequence[str]]


def tiles(values: dict[str, str]) -> str:
    inside = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in values.items()
    )
    return f'<dl class="tiles">{inside}</dl>\n'


def table(names: Sequence[str], rows: Rows, texts: int, none: str) -> str:
    """The first `texts` columns are text, the others numbers."""

    def cells(tag: str, row: Sequence[str]) -> str:
        looks = ["" if n < texts else ' class="number"' for n in range(len(row))]
        pairs = zip(looks, row, strict=True)
        return "".join(f"<{tag}{look}>{escape(str(cell))}</{tag}>" for look, cell in pairs)

    body = "".join(f"<tr>{cells('td', row)}</tr>\n" for row in rows)
    if not body:
        return f'<p class="none">{escape(none)}</p>\n'
    head = f"<thead><tr>{cells('th', names)}</tr></thead>"
    return f'<div class="scroll"><table>{head}<tbody>\n{body}</tbody></table></div>\n'
