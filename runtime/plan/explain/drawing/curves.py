"""Computes where arrows touch boxes, and the curves between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from runtime.plan.explain.drawing.layers import ArrowChain, Layers, Vertex
from runtime.plan.explain.drawing.measure import PORT, BoxSize

Point = tuple[float, float]
NEAR = 16
CLEAR = 4


@dataclass
class Frame:
    """The positions of columns: the middle and the half width of each."""

    middle: list[float] = field(default_factory=list)
    half: list[float] = field(default_factory=list)


@dataclass
class Ports:
    """Heights at which chains enter and leave their boxes, and starts enter theirs."""

    first: dict[ArrowChain, float] = field(default_factory=dict)
    last: dict[ArrowChain, float] = field(default_factory=dict)
    start: dict[Vertex, float] = field(default_factory=dict)


def ports(layers: Layers, starts: set[str]) -> Ports:
    found = Ports()
    leaving: dict[Vertex, list[ArrowChain]] = {}
    coming: dict[Vertex, list[ArrowChain]] = {}
    for chain in layers.chains:
        leaving.setdefault(chain.vertices[0], []).append(chain)
        coming.setdefault(chain.vertices[-1], []).append(chain)
    for vertex, chains in leaving.items():
        chains.sort(key=lambda chain: chain.vertices[1].y)
        for chain, y in zip(chains, _spread(vertex, len(chains)), strict=True):
            found.first[chain] = y
    for vertex in layers.boxes.values():
        chains = sorted(coming.get(vertex, []), key=lambda chain: chain.vertices[-2].y)
        begins = int(vertex.box in starts)
        heights = _spread(vertex, len(chains) + begins)
        if begins:
            found.start[vertex] = heights[0]
        found.last |= dict(zip(chains, heights[begins:], strict=True))
    for chain in layers.chains:  # bans end in a piece of an arrow
        found.last.setdefault(chain, chain.vertices[-1].y)
    return found


def _spread(vertex: Vertex, count: int) -> list[float]:
    if vertex.box is None:
        return [vertex.y] * count
    return [vertex.y + PORT * (place - (count - 1) / 2) for place in range(count)]


def chain_points(
    chain: ArrowChain, at: Ports, frame: Frame, sizes: Mapping[Vertex, BoxSize], level: set[Vertex]
) -> list[Point]:
    """Points from left to right. A vertex in `level` is crossed level, through all its column."""
    first, last = chain.vertices[0], chain.vertices[-1]
    points = [(_side(chain, first, frame, sizes, 1), at.first[chain])]
    points.append((frame.middle[first.column] + frame.half[first.column] + 1, at.first[chain]))
    for vertex in chain.vertices[1:-1]:
        middle = frame.middle[vertex.column]
        half = frame.half[vertex.column] if vertex in level else 0.0
        points += [(middle - half, vertex.y), (middle + half, vertex.y)][: 2 if half else 1]
    points.append((frame.middle[last.column] - frame.half[last.column] - 1, at.last[chain]))
    points.append((_side(chain, last, frame, sizes, -1), at.last[chain]))
    return points


def level_vertices(layers: Layers, sizes: Mapping[Vertex, BoxSize]) -> set[Vertex]:
    """Pieces with a label, and those that pass close by a label or a box."""
    solid = {v for column in layers.columns for v in column if v.label or v.box}
    found = set(solid)
    for column in layers.columns:
        for one, other in pairwise(column):
            close = other.y - one.y < sizes[one].below + sizes[other].above + NEAR
            if close and (one in solid or other in solid):
                found |= {one, other}
    return found


def _side(
    chain: ArrowChain, end: Vertex, frame: Frame, sizes: Mapping[Vertex, BoxSize], sign: int
) -> float:
    """Where a chain leaves the box at its end. A ban stops short of what it forbids."""
    target = chain.vertices[0 if chain.turned else -1]
    short = CLEAR if chain.ban is not None and end is target and end.box else 0
    return frame.middle[end.column] + sign * (sizes[end].width / 2 + short)


def path(points: list[Point], turned: bool) -> str:
    """A smooth curve through the points that never swings beyond them."""
    slopes = _slopes(points)
    curves = []
    for ((x, y), m), ((u, v), n) in pairwise(zip(points, slopes, strict=True)):
        third = (u - x) / 3
        curves.append([(x, y), (x + third, y + third * m), (u - third, v - third * n), (u, v)])
    if turned:
        curves = [curve[::-1] for curve in curves[::-1]]
    return f"M{_pair(curves[0][0])} " + " ".join(f"C{_pairs(curve[1:])}" for curve in curves)


def _slopes(points: list[Point]) -> list[float]:
    """Level at peaks and at the ends, between them the harmonic mean (Fritsch and Butland)."""
    rises = [(v - y) / (u - x) if u > x else 0.0 for (x, y), (u, v) in pairwise(points)]
    inner = [2 * a * b / (a + b) if a * b > 0 else 0.0 for a, b in pairwise(rises)]
    return [0.0, *inner, 0.0]


def _pairs(points: list[Point]) -> str:
    return " ".join(_pair(point) for point in points)


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
