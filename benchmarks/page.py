"""Writes docs/benchmarks.md with its plots, and docs/capacity.md, from benchmarks/measured.

`python -m benchmarks.page`, or `make benchmarks`. No number stands in the page that is not in those
files, and the same files give the same page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks._papers import plots
from benchmarks._papers.experiment import Experiment, experiments
from benchmarks._papers.section import sections
from benchmarks._papers.store import Measured, read
from benchmarks._rivals.section import section as rivals
from benchmarks._scaling.capacity import page as capacity
from benchmarks._scaling.section import section as scaling
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
hamlet bench papers {quick}--output build/papers
cp build/papers/papers.parquet benchmarks/measured/
make benchmarks
```

`build/papers/papers.md` is the part of this page that is about the papers, with plots. One figure,
a family of figures or a paper is measured by `hamlet bench papers --figure hamlet-9a`,
`--figure hamlet-9` or `--figure hamlet`.
"""


def main() -> None:
    try:
        for path, content in page().items():
            (DOCS / path).parent.mkdir(parents=True, exist_ok=True)
            (DOCS / path).write_bytes(content)
        for old in stale():
            old.unlink()
    except HamletError as error:
        sys.exit(f"error: {error.render()}")


def page(measured: Path = MEASURED) -> dict[str, bytes]:
    """The files of docs/, by path."""
    found, all_of_them = read(measured / "papers.parquet"), experiments()
    parts = [
        _TOP.format(quick="--quick " if found.about["mode"] == "quick" else ""),
        *sections(all_of_them, found, IMAGES),
        rivals(measured),
        scaling(measured),
    ]
    files = {
        "benchmarks.md": "\n".join(parts).encode("utf-8"),
        "capacity.md": capacity(measured).encode("utf-8"),
    }
    for each in all_of_them:
        for figure in each.figures:
            files[f"{IMAGES}/{figure.name}.svg"] = plots.drawn(each, figure, found)
    return files


def stale(docs: Path = DOCS) -> list[Path]:
    """Plots of figures that are no more. Others draw into the same folder, by other names."""
    known = {figure.name for each in experiments() for figure in each.figures}
    papers = {each.paper for each in experiments()}
    there = sorted((docs / IMAGES).glob("*.svg"))
    return [path for path in there if path.stem not in known and path.stem.split("-")[0] in papers]


def write_part(folder: Path, chosen: Sequence[Experiment], found: Measured) -> None:
    """The part about some experiments, as a page of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in chosen:
        for figure in each.figures:
            plots.write(folder, each, figure, found)
    text = "\n".join(["# The experiments of the papers\n", *sections(chosen, found, ".")])
    (folder / "papers.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
