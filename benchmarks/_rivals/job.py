"""The input of every system: queries, events and the window length, as files in a folder.

Windows tumble and are aligned to zero, and times are unique. So numbering windows by `time /
within` means the same in every system.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

SEMANTICS = ("skip-till-any-match", "skip-till-next-match", "contiguous")


@dataclass(frozen=True)
class Query:
    """SEQ(start, middle, end) or SEQ(start, middle+, end), with COUNT(*) and SUM(middle.x)."""

    name: str
    semantics: str = "skip-till-any-match"
    start: str = "A"
    middle: str = "B"
    end: str = "C"
    kleene: bool = True

    def text(self, within: int) -> str:
        """As Hamlet takes it."""
        middle = f"{self.middle}{'+' if self.kleene else ''}"
        return (
            f"QUERY {self.name} RETURN COUNT(*) AS n, SUM({self.middle}.x) AS s "
            f"PATTERN SEQ({self.start}, {middle}, {self.end}) "
            f"SEMANTICS {self.semantics} WITHIN {within} us"
        )

    @property
    def line(self) -> str:
        kind = "kleene" if self.kleene else "fixed"
        return "\t".join((self.name, self.semantics, self.start, self.middle, self.end, kind))


@dataclass(frozen=True)
class Job:
    queries: tuple[Query, ...]
    table: pa.Table  #: `time` (int64), `type`, `x` (float64)
    within: int

    @property
    def workload(self) -> str:
        return "\n".join(query.text(self.within) for query in self.queries)

    def longest(self, type_: str) -> int:
        """The most events of a type in a window."""
        times = self.table.filter(pc.field("type") == type_)["time"]
        counts = pc.value_counts(pc.divide(times, self.within))
        return max(counts.field("counts").to_pylist(), default=0)

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        table = self.table.select(["time", "type", "x"])
        plain = table.set_column(1, "type", table["type"].cast(pa.string()))
        options = csv.WriteOptions(include_header=False, quoting_style="none")
        csv.write_csv(plain, folder / "events.csv", options)
        (folder / "queries.tsv").write_text("".join(f"{query.line}\n" for query in self.queries))
        (folder / "within.txt").write_text(f"{self.within}\n")

    @classmethod
    def read(cls, folder: Path) -> Job:
        table = csv.read_csv(
            folder / "events.csv",
            csv.ReadOptions(column_names=["time", "type", "x"], use_threads=False),
            convert_options=csv.ConvertOptions(
                column_types={
                    "time": pa.int64(),
                    "type": pa.dictionary(pa.int32(), pa.string()),
                    "x": pa.float64(),
                }
            ),
        )
        lines = (folder / "queries.tsv").read_text().splitlines()
        within = int((folder / "within.txt").read_text())
        return cls(tuple(map(_query, lines)), table.combine_chunks(), within)


def _query(line: str) -> Query:
    name, semantics, start, middle, end, kind = line.split("\t")
    return Query(name, semantics, start, middle, end, kind == "kleene")
