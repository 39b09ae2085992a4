"""Writes the merged template as an SVG picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from runtime.plan.explain.drawing.coordinates import place
from runtime.plan.explain.drawing.curves import (
    Frame,
    Ports,
    chain_points,
    level_vertices,
    path,
    ports,
)
from runtime.plan.explain.drawing.graph_model import (
    KLEENE,
    NOT,
    PLAIN,
    SHARED,
    Arrow,
    Sketch,
    sketch,
)
from runtime.plan.explain.drawing.layer_order import untangle
from runtime.plan.explain.drawing.layers import Layers, Vertex, layered
from runtime.plan.explain.drawing.measure import (
    LINE,
    SMALL,
    START,
    BoxSize,
    clipped,
    sizes,
    text_width,
)
from runtime.plan.explain.drawing.svg_style import (
    COLOURS,
    STYLE,
    TEE,
    arrow_path,
    arrowhead,
    ban_path,
    escape,
    rectangle,
    sign,
)

if TYPE_CHECKING:
    from runtime.plan.explain.explanation_sections import ExplanationSections

MARGIN = 24
GAP = 26
NOTE = 18  # between two lines below the legend


def as_svg(explanation: ExplanationSections) -> str:
    return drawn(sketch(explanation))


def drawn(what: Sketch, bare: bool = False) -> str:
    """`bare`: without background and styles, which the surrounding page provides."""
    layers = layered(what)
    untangle(layers)
    measured = sizes(what, layers)
    place(layers, measured)
    return _Picture(what, layers, measured).write(bare)


class _Picture:
    """Holds where everything is while it is written, back to front."""

    def __init__(self, what: Sketch, layers: Layers, measured: Mapping[Vertex, BoxSize]) -> None:
        self._what = what
        self._layers = layers
        self._sizes = measured
        self._frame = self._columns()
        self._lower()
        starts = {name for name, box in what.boxes.items() if box.start}
        self._ports: Ports = ports(layers, starts)

    def write(self, bare: bool) -> str:
        heading = escape(self._what.heading)
        body = [f'<text class="heading" x="{MARGIN}" y="{MARGIN + 6}">{heading}</text>']
        glows, lines, labels = self._arrows()
        boxes = [line for vertex in self._layers.boxes.values() for line in self._box(vertex)]
        body += glows + lines + boxes + labels + self._legend()
        width, height = self._extent()
        ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
                f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">',
                f"<title>{escape(self._what.heading)}</title>",
                *([] if bare else [f"<style>{STYLE}</style>"]),
                "<defs>",
                *(arrowhead(look, colour) for look, colour in COLOURS.items()),
                TEE,
                "</defs>",
                *([] if bare else [ground]),
                *body,
                "</svg>",
                "",
            ]
        )

    # ---- where things are ------------------------------------------------------------------

    def _columns(self) -> Frame:
        frame = Frame()
        right = float(MARGIN - GAP)
        for column in self._layers.columns:
            half = max((self._sizes[vertex].reach for vertex in column), default=0) / 2
            # Steep curves need room: the more arrows side by side, the more of it.
            gap = GAP + min(len(column), 40)
            frame.middle.append(right + gap + half)
            frame.half.append(half)
            right += gap + 2 * half
        return frame

    def _lower(self) -> None:
        """Moves everything below the heading."""
        top = min(v.y - self._sizes[v].above for column in self._layers.columns for v in column)
        for column in self._layers.columns:
            for vertex in column:
                vertex.y += MARGIN + 28 - top

    def _extent(self) -> tuple[float, float]:
        right = max(m + h for m, h in zip(self._frame.middle, self._frame.half, strict=True))
        notes = [text_width(note, SMALL) for note in self._what.notes]
        needed = MARGIN + max(text_width(self._what.heading, 16), self._legend_width(), *notes)
        below = NOTE * len(self._what.notes)
        return max(right, needed) + MARGIN, self._bottom() + 2 * MARGIN + below

    def _bottom(self) -> float:
        return max(v.y + self._sizes[v].below for column in self._layers.columns for v in column)

    # ---- arrows ----------------------------------------------------------------------------

    def _arrows(self) -> tuple[list[str], list[str], list[str]]:
        glows, lines, labels = [], [], []
        level = level_vertices(self._layers, self._sizes)
        for chain in self._layers.chains:
            points = chain_points(chain, self._ports, self._frame, self._sizes, level)
            d = path(points, chain.turned)
            if chain.arrow is None:
                lines.append(ban_path(chain.ban.title if chain.ban else "", d))
                continue
            if chain.arrow.look == SHARED:
                glows.append(f'<path class="glow" d="{d}"/>')
            lines.append(arrow_path(chain.arrow, d))
            labels += [self._label(vertex) for vertex in chain.vertices if vertex.label]
        for arrow in self._what.arrows:
            if arrow.loop:
                self._loop(arrow, glows, lines, labels)
        lines += [self._start(vertex, y) for vertex, y in self._ports.start.items()]
        return glows, lines, labels

    def _label(self, vertex: Vertex) -> str:
        x = self._frame.middle[vertex.column]
        return (
            f'<text class="label" x="{x:.1f}" y="{vertex.y - 4:.1f}">{escape(vertex.label)}</text>'
        )

    def _loop(self, arrow: Arrow, glows: list[str], lines: list[str], labels: list[str]) -> None:
        vertex = self._layers.boxes[arrow.source]
        x, top = self._frame.middle[vertex.column], vertex.y - self._sizes[vertex].height / 2
        d = f"M{x - 13:.1f},{top:.1f} C{x - 34:.1f},{top - 36:.1f} {x + 34:.1f},{top - 36:.1f} "
        d += f"{x + 13:.1f},{top:.1f}"
        if arrow.look == SHARED:
            glows.append(f'<path class="glow" d="{d}"/>')
        lines.append(arrow_path(arrow, d))
        label = escape(arrow.label)
        labels.append(f'<text class="label" x="{x:.1f}" y="{top - 32:.1f}">{label}</text>')

    def _start(self, vertex: Vertex, y: float) -> str:
        left = self._frame.middle[vertex.column] - self._sizes[vertex].width / 2
        return (
            f'<circle cx="{left - START:.1f}" cy="{y:.1f}" r="2.5" fill="{COLOURS[PLAIN]}"/>'
            f'<path class="arrow plain" marker-end="url(#head-plain)" '
            f'd="M{left - START:.1f},{y:.1f} L{left:.1f},{y:.1f}"/>'
        )

    # ---- boxes -----------------------------------------------------------------------------

    def _box(self, vertex: Vertex) -> list[str]:
        box, size = self._what.boxes[vertex.box or ""], self._sizes[vertex]
        x, y = self._frame.middle[vertex.column], vertex.y
        left, top = x - size.width / 2, y - size.height / 2
        look = "box" if box.positive else "absent"
        lines = [f"<g><title>{escape(box.name)}</title>"]
        lines.append(rectangle(look, left, top, size.width, size.height))
        if box.end:
            lines.append(rectangle("inner", left + 3, top + 3, size.width - 6, size.height - 6))
        name = escape(clipped(box.name))
        lines.append(f'<text class="name" x="{x:.1f}" y="{y:.1f}">{name}</text></g>')
        below = y + size.height / 2
        for row, note in enumerate(box.notes, start=1):
            at = f'x="{x:.1f}" y="{below + LINE * row:.1f}"'
            lines.append(f'<text class="note" {at}>{escape(note)}</text>')
        return lines

    # ---- what the signs mean ---------------------------------------------------------------

    def _signs(self) -> list[tuple[str, str]]:
        looks = {arrow.look for arrow in self._what.arrows}
        signs = [(SHARED, "Kleene part that queries share")] if SHARED in looks else []
        signs += [(KLEENE, "Kleene part of one query")] if KLEENE in looks else []
        signs += [(NOT, "NOT: must not happen here")] if self._what.bans else []
        return [*signs, ("end", "trends end here"), ("start", "trends start here")]

    def _legend(self) -> list[str]:
        y, x = self._bottom() + MARGIN, float(MARGIN)
        lines = []
        for kind, meaning in self._signs():
            lines.append(sign(kind, x, y - 4))
            lines.append(f'<text class="key" x="{x + 36:.1f}" y="{y:.1f}">{meaning}</text>')
            x += 36 + text_width(meaning, SMALL) + 24
        for row, note in enumerate(self._what.notes, 1):
            at = f'x="{MARGIN}" y="{y + NOTE * row:.1f}"'
            lines.append(f'<text class="key" {at}>{escape(note)}</text>')
        return lines

    def _legend_width(self) -> float:
        return sum(60 + text_width(meaning, SMALL) for _, meaning in self._signs())
