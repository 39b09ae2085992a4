"""Tables of text: fitted to the width of a terminal by rich, or plain and as wide as needed."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hamlet.cli.stderr import one_line

GAP = "   "


class TextTable:
    """Columns of equal length, with a title above and a footer below."""

    def __init__(self) -> None:
        self.title: tuple[str, str] | None = None
        self.footer = ""
        self._names: list[str] = []
        self._columns: list[Sequence[str]] = []
        self._right: list[bool] = []

    def add(self, name: str, values: Sequence[str], right: bool = False) -> None:
        self._names.append(name)
        self._columns.append([one_line(value) for value in values])
        self._right.append(right)

    @classmethod
    def of(cls, names: Iterable[str], rows: Iterable[Sequence[str]], right: set[str]) -> TextTable:
        made = cls()
        rows = list(rows)
        for place, name in enumerate(names):
            made.add(name, [row[place] for row in rows], right=name in right)
        return made

    def texts(self, terminal: bool) -> Iterator[str]:
        """The table as pieces of text, each a number of whole lines."""
        return self._fitted() if terminal else self._plain()

    def __bool__(self) -> bool:
        return bool(self._columns and self._columns[0])

    def _plain(self) -> Iterator[str]:
        if self.title:
            yield f"{self.title[0]}  {self.title[1]}\n"
        if self:
            widths = [
                max(map(cell_len, (name, *column)))
                for name, column in zip(self._names, self._columns, strict=True)
            ]
            yield self._line(self._names, widths)
            yield f" {'─' * (sum(widths) + len(GAP) * (len(widths) - 1))}\n"
            for row in zip(*self._columns, strict=True):
                yield self._line(row, widths)
        if self.footer:
            yield f"{self.footer}\n"

    def _line(self, row: Sequence[str], widths: list[int]) -> str:
        cells = []
        for cell, width, right in zip(row, widths, self._right, strict=True):
            blank = " " * (width - cell_len(cell))
            cells.append(blank + cell if right else cell + blank)
        return f" {GAP.join(cells)}".rstrip() + "\n"

    def _fitted(self) -> Iterator[str]:
        width = shutil.get_terminal_size().columns
        console = Console(file=io.StringIO(), width=width, force_terminal=True, highlight=False)
        if self.title:
            console.print(Text.assemble((self.title[0], "bold"), f"  {self.title[1]}"))
        if self:
            console.print(self.table())
        if self.footer:
            console.print(Text(self.footer, style="dim"))
        text: str = console.file.getvalue()  # type: ignore[attr-defined]
        # rich puts blank lines above and below a table.
        yield "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())

    def table(self) -> Table:
        table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for name, right in zip(self._names, self._right, strict=True):
            table.add_column(Text(name), justify="right" if right else "left", no_wrap=right)
        for row in zip(*self._columns, strict=True):
            table.add_row(*(Text(cell) for cell in row))
        return table


def print_table(table: TextTable) -> None:
    """Prints a table on standard output."""
    for text in table.texts(sys.stdout.isatty()):
        sys.stdout.write(text)
    sys.stdout.flush()
