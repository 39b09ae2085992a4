"""The styles and SVG elements of the picture."""

from __future__ import annotations

from xml.sax import saxutils

from runtime.plan.explain.drawing.graph_model import KLEENE, NOT, PLAIN, SHARED, Arrow
from runtime.plan.explain.drawing.measure import NAME, SMALL

COLOURS = {PLAIN: "#5b6673", KLEENE: "#1f6fb2", SHARED: "#b45f06", NOT: "#b03a3a"}
STYLE = f"""
  text {{ font-family: Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1d2733 }}
  .name {{ font-size: {NAME}px; text-anchor: middle; dominant-baseline: central }}
  .note, .label, .key {{ font-size: {SMALL}px; fill: #5b6673 }}
  .note, .label {{ text-anchor: middle }}
  .label {{ fill: #1d2733; stroke: #ffffff; stroke-width: 3px; paint-order: stroke }}
  .heading {{ font-size: 15px; font-weight: bold }}
  .box {{ fill: #f4f7fa; stroke: #38475a; stroke-width: 1.3 }}
  .inner {{ fill: none; stroke: #38475a; stroke-width: 1.3 }}
  .absent {{ fill: #fdf6f6; stroke: {COLOURS[NOT]}; stroke-width: 1.3; stroke-dasharray: 5 3 }}
  .arrow {{ fill: none; stroke-width: 1.3 }}
  .plain {{ stroke: {COLOURS[PLAIN]} }}
  .kleene {{ stroke: {COLOURS[KLEENE]}; stroke-width: 1.8 }}
  .shared {{ stroke: {COLOURS[SHARED]}; stroke-width: 2.2 }}
  .glow {{ fill: none; stroke: #ffe3b3; stroke-width: 9; stroke-linecap: round }}
  .not {{ stroke: {COLOURS[NOT]}; stroke-dasharray: 5 3 }}
"""


def escape(text: str) -> str:
    """Text for XML, which has no place at all for most control characters."""
    return saxutils.escape(_writable(text))


def _writable(text: str) -> str:
    return "".join("\ufffd" if _unwritable(c) else c for c in text)


def _unwritable(character: str) -> bool:
    return (character < " " and character not in "\t\n\r") or character in "\ufffe\uffff"


def arrow_path(arrow: Arrow, d: str) -> str:
    """A page highlights arrows by `data-into` and `data-queries` when bursts of a type are
    shared."""
    into = f'data-into={saxutils.quoteattr(_writable(arrow.target))} data-queries="{arrow.sharers}"'
    return (
        f'<path class="arrow {arrow.look}" {into} marker-end="url(#head-{arrow.look})" d="{d}">'
        f"<title>{escape(arrow.title)}</title></path>"
    )


def ban_path(title: str, d: str) -> str:
    title = escape(title)
    return f'<path class="arrow not" marker-end="url(#tee)" d="{d}"><title>{title}</title></path>'


def rectangle(look: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="3"/>'
    )


def sign(kind: str, x: float, y: float) -> str:
    line = f'd="M{x:.1f},{y:.1f} L{x + 28:.1f},{y:.1f}"'
    if kind == "end":
        return rectangle("box", x + 4, y - 7, 22, 14) + rectangle("inner", x + 7, y - 4, 16, 8)
    if kind == "start":
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{COLOURS[PLAIN]}"/>'
        return f'{dot}<path class="arrow plain" marker-end="url(#head-plain)" {line}/>'
    glow = f'<path class="glow" {line}/>' if kind == SHARED else ""
    head = "tee" if kind == NOT else f"head-{kind}"
    return f'{glow}<path class="arrow {kind}" marker-end="url(#{head})" {line}/>'


def arrowhead(look: str, colour: str) -> str:
    return (
        f'<marker id="head-{look}" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="9" '
        f'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0,1 L10,5 L0,9 z" fill="{colour}"/></marker>'
    )


TEE = (
    '<marker id="tee" viewBox="0 0 4 12" refX="2" refY="6" markerWidth="4" markerHeight="12" '
    f'markerUnits="userSpaceOnUse" orient="auto"><path d="M2,0 L2,12" stroke="{COLOURS[NOT]}" '
    'stroke-width="2"/></marker>'
)
