"""Orders the vertices within columns to reduce crossings (barycentre sweeps in both directions)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable

from runtime.plan.explain.drawing.layers import Layers, Vertex

SWEEPS = 24


def untangle(layers: Layers) -> None:
    best = [list(column) for column in layers.columns]
    _number(layers.columns)
    fewest = _crossings(layers.columns)
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        if sweep % 2 == 0:
            _sweep(layers.columns[1:], lambda vertex: vertex.left)
        else:
            _sweep(layers.columns[-2::-1], lambda vertex: vertex.right)
        crossings = _crossings(layers.columns)
        if crossings < fewest:
            fewest, best = crossings, [list(column) for column in layers.columns]
    for column, order in zip(layers.columns, best, strict=True):
        column[:] = order
    _number(layers.columns)


def _sweep(columns: list[list[Vertex]], neighbours: Callable[[Vertex], list[Vertex]]) -> None:
    for column in columns:
        column.sort(key=lambda vertex: _centre(vertex, neighbours(vertex)))
        _number([column])


def _centre(vertex: Vertex, neighbours: list[Vertex]) -> float:
    """Without neighbours a vertex stays where it is."""
    if not neighbours:
        return float(vertex.order)
    return sum(neighbour.order for neighbour in neighbours) / len(neighbours)


def _crossings(columns: list[list[Vertex]]) -> int:
    return sum(_between(column) for column in columns)


def _between(column: list[Vertex]) -> int:
    """Crossings to the right of a column: the inversions of where its pieces end."""
    found = 0
    seen: list[int] = []
    for vertex in column:
        ends = sorted(neighbour.order for neighbour in vertex.right)
        found += sum(len(seen) - bisect_right(seen, end) for end in ends)
        for end in ends:
            insort(seen, end)
    return found


def _number(columns: list[list[Vertex]]) -> None:
    for column in columns:
        for place, vertex in enumerate(column):
            vertex.order = place
