"""Estimates the sizes of text and boxes."""

from __future__ import annotations

from dataclasses import dataclass
from unicodedata import east_asian_width

from runtime.plan.explain.drawing.graph_model import Sketch
from runtime.plan.explain.drawing.layers import Layers, Vertex

NAME, SMALL = 13, 11
LINE = 14
PORT = 11
LOOP = 44
START = 22
LONGEST = 30
NARROW, WIDE = frozenset("iljtfrI.,:;|'()[] "), frozenset("mwMWQO@%")


@dataclass(frozen=True)
class BoxSize:
    """Of a vertex: the box's width and height, and what it needs above and below its middle."""

    width: float
    height: float
    above: float
    below: float
    reach: float  # the width with all that is written around the box


def text_width(text: str, size: float) -> float:
    return size * sum(_em(character) for character in text)


def clipped(name: str) -> str:
    """A name that is too long for a box; its title has the whole."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def sizes(what: Sketch, layers: Layers) -> dict[Vertex, BoxSize]:
    loops = {arrow.source: arrow.label for arrow in what.arrows if arrow.loop}
    found = {}
    for column in layers.columns:
        for vertex in column:
            found[vertex] = _box(what, vertex, loops) if vertex.box else _piece(vertex)
    return found


def _box(what: Sketch, vertex: Vertex, loops: dict[str, str]) -> BoxSize:
    box = what.boxes[vertex.box or ""]
    ports = max(len(vertex.left) + box.start, len(vertex.right))
    width = max(58.0, text_width(clipped(box.name), NAME) + 26)
    height = max(36.0, PORT * ports + 12)
    label = loops.get(box.name)
    around = [text_width(note, SMALL) for note in box.notes]
    around += [width + 2 * START + 6] if box.start else []
    around += [] if label is None else [text_width(label, SMALL)]
    above = height / 2 + (0 if label is None else LOOP)
    below = height / 2 + LINE * len(box.notes)
    return BoxSize(width, height, above + 8, below + 10, max(width, *around, 0.0))


def _piece(vertex: Vertex) -> BoxSize:
    if not vertex.label:
        return BoxSize(0, 0, 6, 6, 0)
    width = text_width(vertex.label, SMALL) + 8
    return BoxSize(width, 0, LINE + 1, 4, width)


def _em(character: str) -> float:
    if character in NARROW:
        return 0.32
    if character in WIDE:
        return 0.88
    return 1.0 if east_asian_width(character) in "WF" else 0.6
