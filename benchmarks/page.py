"""Writes docs/benchmarks.md with its plots, and docs/capacity.md, from benchmarks/measured.

`python -m benchmarks.page`, or `make benchmarks`. No number stands in the page that is not in those
files, and the same files give the same page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._papers import plots as paper_plots
from benchmarks._papers import section as paper_section
from benchmarks._papers.experiment import Experiment, experiments
from benchmarks._papers.store import Measured, read
from benchmarks._rivals import plots as rival_plots
from benchmarks._rivals import section as rival_section
from benchmarks._rivals import store as rival_store
from benchmarks._scaling import capacity
from benchmarks._scaling import plots as scaling_plots
from benchmarks._scaling import section as scaling_section
from benchmarks._scaling import store as scaling_store
from runtime.errors import HamletError

CHECKOUT = Path(__file__).parents[1]
MEASURED = CHECKOUT / "benchmarks" / "measured"
DOCS = CHECKOUT / "docs"
IMAGES = "images/benchmarks"

_TOP = """\
# Benchmarks

What the papers claim, measured again: every figure that compares systems, with all of these built
on one event model, by the same tools, over the same events. All systems give the same answers, or
the run fails.

This page is made by `make benchmarks` from the measurements in `benchmarks/measured/`. To measure
anew, on a machine that does nothing else, and to make the page of that:

```
hamlet bench papers{papers}
hamlet bench rivals{rivals}
hamlet bench scaling{scaling}
cp build/papers/*.parquet build/rivals/*.parquet build/scaling/*.parquet benchmarks/measured/
make benchmarks
```

Each command writes its part of this page beside its measurements, such as `build/papers/papers.md`.
One figure, a family of figures or a paper is measured by `hamlet bench papers --figure hamlet-9a`,
`--figure hamlet-9` or `--figure hamlet`. Then come [what one would pick
instead](#what-one-would-pick-instead), [scaling](#scaling) and, on a page of its own, what a
[cluster](capacity.md) would need.
"""


@dataclass(frozen=True)
class Part:
    """A part of the page, with its plots by the names of their files."""

    text: str
    plots: Mapping[str, bytes]

    def write(self, folder: Path, name: str) -> None:
        """As a page of its own."""
        _write(folder, {f"{name}.md": self.text.encode("utf-8"), **self.plots})


def main() -> None:
    try:
        files = page()
        _write(DOCS, files)
        for old in stale(files):
            old.unlink()
    except HamletError as error:
        sys.exit(f"error: {error.render()}")


def page(measured: Path = MEASURED) -> dict[str, bytes]:
    """The files of docs/, by path."""
    found = read(measured / "papers.parquet")
    parts = [
        Part(_top(measured, found), {}),
        papers(experiments(), found, IMAGES),
        rivals(measured, IMAGES),
        scaling(measured, IMAGES),
    ]
    return {
        "benchmarks.md": "\n".join(part.text for part in parts).encode("utf-8"),
        "capacity.md": capacity.page(measured).encode("utf-8"),
        **{f"{IMAGES}/{name}": plot for part in parts for name, plot in part.plots.items()},
    }


def _top(measured: Path, papers: Measured) -> str:
    """With the commands that measured what is there."""
    quick = {
        "papers": papers.about["mode"] == "quick",
        "rivals": rival_store.read(measured)[1]["quick"],
        "scaling": scaling_store.read(measured / scaling_store.FILE).quick,
    }
    return _TOP.format(**{name: " --quick" if each else "" for name, each in quick.items()})


def papers(chosen: Sequence[Experiment], found: Measured, images: str) -> Part:
    return Part(
        "\n".join(paper_section.sections(chosen, found, images)), paper_plots.plots(chosen, found)
    )


def rivals(measured: Path, images: str) -> Part:
    return Part(rival_section.section(measured, images), rival_plots.plots(measured))


def scaling(measured: Path, images: str) -> Part:
    return Part(scaling_section.section(measured, images), scaling_plots.plots(measured))


def stale(files: Iterable[str], docs: Path = DOCS) -> list[Path]:
    """Plots that are no more."""
    there = sorted((docs / IMAGES).glob("*.svg"))
    return [path for path in there if path.relative_to(docs).as_posix() not in files]


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


if __name__ == "__main__":
    main()
