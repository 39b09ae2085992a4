"""Writes docs/benchmarks.md with its plots, and docs/capacity.md, from benchmarks/measured.

Run it as `python -m benchmarks.page`, or `make benchmarks`. Every number of the pages comes from
those files, and the same files give the same pages.
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

This page measures the claims of the papers again: every figure that compares systems. All systems
use one event model, the same tools and the same events. All of them give the same answers, or the
run fails.

`make benchmarks` writes this page from the measurements in `benchmarks/measured/`. To measure
again on an idle machine and update the page:

```
hamlet bench papers{papers}
hamlet bench rivals{rivals}
hamlet bench scaling{scaling}
cp build/papers/*.parquet build/rivals/*.parquet build/scaling/*.parquet benchmarks/measured/
make benchmarks
```

Each command writes its part of this page next to its measurements, such as
`build/papers/papers.md`. To measure one figure, a family of figures or one paper, use
`hamlet bench papers --figure hamlet-9a`, `--figure hamlet-9` or `--figure hamlet`. After the papers
come a [comparison with other systems](#other-systems) and [scaling](#scaling). A separate page
estimates [the size of a cluster](capacity.md).
"""


@dataclass(frozen=True)
class Part:
    """A part of the page, with its plots by file name."""

    text: str
    plots: Mapping[str, bytes]

    def write(self, folder: Path, name: str) -> None:
        """Writes the part as a separate page."""
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
    """The files of docs/ by path."""
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
    """The introduction, with the commands that made the measurements."""
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
    """Plots that no longer belong to the page."""
    there = sorted((docs / IMAGES).glob("*.svg"))
    return [path for path in there if path.relative_to(docs).as_posix() not in files]


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


if __name__ == "__main__":
    main()
