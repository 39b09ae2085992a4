"""Heights: every vertex near its neighbours, none nearer to the next one than it may be.

A column is solved exactly: with the order fixed, the least squares under least distances are an
isotonic regression (pool adjacent violators). Columns are solved in turn, to and fro.
"""

from __future__ import annotations

from collections.abc import Mapping

from runtime.plan.explain.drawing.layers import Layers, Vertex
from runtime.plan.explain.drawing.measure import BoxSize

ROUNDS = 60


def place(layers: Layers, sizes: Mapping[Vertex, BoxSize]) -> None:
    for column in layers.columns:
        for vertex, offset in zip(column, _offsets(column, sizes), strict=True):
            vertex.y = offset
        middle = (column[0].y + column[-1].y) / 2 if column else 0.0
        for vertex in column:
            vertex.y -= middle
    for turn in range(ROUNDS):
        columns = layers.columns if turn % 2 == 0 else layers.columns[::-1]
        for column in columns:
            _settle(column, sizes)


def _settle(column: list[Vertex], sizes: Mapping[Vertex, BoxSize]) -> None:
    offsets = _offsets(column, sizes)
    wanted = [_wanted(vertex) for vertex in column]
    shifted = [(y - offset, weight) for (y, weight), offset in zip(wanted, offsets, strict=True)]
    for vertex, y, offset in zip(column, _rising(shifted), offsets, strict=True):
        vertex.y = y + offset


def _offsets(column: list[Vertex], sizes: Mapping[Vertex, BoxSize]) -> list[float]:
    """The least height of each vertex below the first."""
    offsets = [0.0] * len(column)
    for i in range(1, len(column)):
        offsets[i] = offsets[i - 1] + sizes[column[i - 1]].below + sizes[column[i]].above
    return offsets


def _wanted(vertex: Vertex) -> tuple[float, float]:
    """The weighted mean of the neighbours: a piece between pieces pulls hardest, so that long
    arrows run straight."""
    total, weight = 0.0, 0.0
    for neighbour in (*vertex.left, *vertex.right):
        pull = 1.0 if vertex.box and neighbour.box else 8.0
        pull = 2.0 if (vertex.box is None) != (neighbour.box is None) else pull
        total, weight = total + pull * neighbour.y, weight + pull
    return (total / weight, weight) if weight else (vertex.y, 0.1)


def _rising(points: list[tuple[float, float]]) -> list[float]:
    """The nearest sequence that never falls."""
    blocks: list[tuple[float, float, int]] = []  # value, weight, length
    for value, weight in points:
        blocks.append((value, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (v, w, n), (u, x, m) = blocks[-2], blocks[-1]
            blocks[-2:] = [((v * w + u * x) / (w + x), w + x, n + m)]
    return [value for value, _, length in blocks for _ in range(length)]
