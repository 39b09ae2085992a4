"""Prints the figures of the tree, and with `--base REV` those of a revision beside them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from house.figures import LONGEST_FILE, LONGEST_FUNCTION, House, LayerSize
from house.layers import LAYERS
from house.source_tree import read_revision, read_working_tree

ROOT = Path(__file__).parents[2]
_SIZES: dict[str, Callable[[LayerSize], object]] = {
    "files": lambda size: f"{size.files:,}",
    "lines": lambda size: f"{size.lines:,}",
    "median": lambda size: f"{size.median:g}",
    "p90": lambda size: size.p90,
    "longest": lambda size: size.longest,
}
_COUNTS: dict[str, Callable[[House], Sequence[str] | dict[str, list[str]]]] = {
    "import cycles between packages": lambda house: house.package_cycles,
    "import cycles between modules": lambda house: house.module_cycles,
    "public class names defined twice": lambda house: house.duplicate_classes,
    "basenames shared within a package": lambda house: house.shared_basenames,
    f"files over {LONGEST_FILE} lines": lambda house: house.long_files,
    f"functions over {LONGEST_FUNCTION} lines outside kernels": lambda house: house.long_functions,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="make house", description=__doc__)
    parser.add_argument("--revision", help="a git revision instead of the working tree")
    parser.add_argument("--base", help="a git revision to compare with")
    parser.add_argument("--list", action="store_true", help="also print what was counted")
    options = parser.parse_args()
    sources = read_revision(ROOT, options.revision) if options.revision else read_working_tree(ROOT)
    houses = {options.revision or "now": House(sources)}
    if options.base:
        houses = {options.base: House(read_revision(ROOT, options.base)), **houses}
    print(_table(_layer_rows(houses)), _table(_count_rows(houses)), sep="\n\n")
    if options.list:
        print(_listing(next(reversed(houses.values()))))


def _layer_rows(houses: dict[str, House]) -> list[list[str]]:
    rows = [["layer", *(name if name in ("files", "lines") else f"{name} fn" for name in _SIZES)]]
    if len(houses) > 1:
        rows.append(["", *([" → ".join(houses)] * len(_SIZES))])
    for layer in (*LAYERS, "all"):
        sizes = [house.layers.get(layer) for house in houses.values()]
        cells = [
            " → ".join("–" if size is None else str(show(size)) for size in sizes)
            for show in _SIZES.values()
        ]
        rows.append([layer, *cells])
    return rows


def _count_rows(houses: dict[str, House]) -> list[list[str]]:
    rows = [["", *houses]]
    for name, count in _COUNTS.items():
        rows.append([name, *(str(len(count(house))) for house in houses.values())])
    return rows


def _listing(house: House) -> str:
    lines = []
    for name, count in _COUNTS.items():
        found = count(house)
        lines += ["", f"{name}: {len(found)}"]
        for item in found:
            places = f": {', '.join(found[item])}" if isinstance(found, dict) else ""
            lines.append(f"  {item}{places}")
    return "\n".join(lines)


def _table(rows: list[list[str]]) -> str:
    """Text in columns: the first one to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    main()
