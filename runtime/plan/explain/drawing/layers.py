"""Every box in a column, every arrow cut into pieces that each span one gap between columns.

Boxes stand in even columns, labels in odd ones. Arrows that would run backwards in a cycle are
turned around for the layout, and back when they are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from runtime.plan.explain.drawing.graph_model import NOT, Arrow, Ban, Sketch


@dataclass(eq=False)
class Vertex:
    """A box, or a piece of an arrow (`box` is None) that may carry its label."""

    column: int
    box: str | None = None
    label: str = ""
    y: float = 0.0
    order: int = 0
    left: list[Vertex] = field(default_factory=list)
    right: list[Vertex] = field(default_factory=list)


@dataclass(eq=False)
class ArrowChain:
    """The vertices of an arrow or a ban from left to right; `turned` if it points to the left."""

    vertices: list[Vertex]
    turned: bool
    arrow: Arrow | None = None
    ban: Ban | None = None


@dataclass
class Layers:
    columns: list[list[Vertex]]
    chains: list[ArrowChain]
    boxes: dict[str, Vertex]


def layered(what: Sketch) -> Layers:
    ranks = _ranks(what)
    layers = Layers([], [], {name: Vertex(2 * rank, name) for name, rank in ranks.items()})
    vertices = list(layers.boxes.values())
    labels: dict[tuple[str, str], Vertex] = {}
    for arrow in what.arrows:
        source, target = layers.boxes[arrow.source], layers.boxes[arrow.target]
        if source.column != target.column:
            chain, label = _cut(source, target, arrow.label)
            chain.arrow = arrow
            labels[arrow.source, arrow.target] = label
            layers.chains.append(chain)
    for ban in what.bans:
        held = _banned(ban, layers, labels)
        source = layers.boxes[ban.source]
        if held is not None and held.column != source.column:
            chain, _ = _cut(source, held, "")
            chain.ban = ban
            layers.chains.append(chain)
    for chain in layers.chains:
        vertices += chain.vertices[1:-1]
    layers.columns = _columns(vertices)
    return layers


def _banned(ban: Ban, layers: Layers, labels: dict[tuple[str, str], Vertex]) -> Vertex | None:
    """Where a ban points: at the label of an arrow, else at a box."""
    if ban.after is not None and ban.before is not None and ban.after != ban.before:
        return labels.get((ban.after, ban.before))
    return layers.boxes.get(ban.before or ban.after or "")


def _cut(source: Vertex, target: Vertex, label: str) -> tuple[ArrowChain, Vertex]:
    """The chain between two vertices, and the one in its middle, which holds the label."""
    turned = source.column > target.column
    first, last = (target, source) if turned else (source, target)
    pieces = [Vertex(column) for column in range(first.column + 1, last.column)]
    whole = [first, *pieces, last]
    for one, next_ in pairwise(whole):
        one.right.append(next_)
        next_.left.append(one)
    middle = first
    if pieces:
        odd = [piece for piece in pieces if piece.column % 2]
        middle = odd[len(odd) // 2] if turned else odd[(len(odd) - 1) // 2]
        middle.label = label
    return ArrowChain(whole, turned), middle


def _columns(vertices: list[Vertex]) -> list[list[Vertex]]:
    first = min(vertex.column for vertex in vertices)
    columns: list[list[Vertex]] = [
        [] for _ in range(max(vertex.column for vertex in vertices) - first + 1)
    ]
    for vertex in vertices:
        vertex.column -= first
        columns[vertex.column].append(vertex)
    return columns


# ---- ranks ---------------------------------------------------------------------------------


def _ranks(what: Sketch) -> dict[str, int]:
    """The longest path from where trends start, along arrows that do not run backwards."""
    positive = [name for name, box in what.boxes.items() if box.positive]
    arrows = [a for a in what.arrows if a.look != NOT and not a.loop]
    place = {name: i for i, name in enumerate(_forwards(positive, arrows))}
    ranks = dict.fromkeys(positive, 0)
    forward = [a for a in arrows if place[a.source] < place[a.target]]
    for arrow in sorted(forward, key=lambda a: place[a.source]):
        ranks[arrow.target] = max(ranks[arrow.target], ranks[arrow.source] + 1)
    _draw_near(ranks, forward, what)
    _rank_forbidden(ranks, what)
    return ranks


def _draw_near(ranks: dict[str, int], forward: list[Arrow], what: Sketch) -> None:
    """A start needs no place in the first column: it stands right before what follows it."""
    entered = {arrow.target for arrow in forward}
    for name, box in what.boxes.items():
        following = [ranks[a.target] for a in forward if a.source == name]
        if box.positive and name not in entered and following:
            ranks[name] = min(following) - 1


def _forwards(names: list[str], arrows: list[Arrow]) -> list[str]:
    """An order in which few arrows run backwards (the greedy one of Eades, Lin and Smyth)."""
    weight: dict[tuple[str, str], int] = {(a.source, a.target): a.ahead for a in arrows}
    head: list[str] = []
    tail: list[str] = []
    left = list(names)
    while left:
        out = {n: sum(w for (s, t), w in weight.items() if s == n) for n in left}
        into = {n: sum(w for (s, t), w in weight.items() if t == n) for n in left}
        source = next((n for n in left if into[n] == 0), None)
        sink = next((n for n in reversed(left) if out[n] == 0), None)
        # Ties go to the type that the workload names first.
        chosen = source or sink or max(left, key=lambda n: out[n] - into[n])
        (tail if source is None and sink is not None else head).append(chosen)
        left.remove(chosen)
        weight = {edge: w for edge, w in weight.items() if chosen not in edge}
    return head + tail[::-1]


def _rank_forbidden(ranks: dict[str, int], what: Sketch) -> None:
    """A type that stands only under NOT goes one column before what it forbids."""
    for ban in what.bans:
        if ban.source not in ranks:
            ranks[ban.source] = _before(ban, ranks)
    waiting = [name for name in what.boxes if name not in ranks]
    inner = [arrow for arrow in what.arrows if arrow.look == NOT]
    for _ in waiting:  # each round places at least the one nearest to the end of its NOT
        for arrow in inner:
            if arrow.source not in ranks and arrow.target in ranks:
                ranks[arrow.source] = ranks[arrow.target] - 1
    for name in waiting:
        ranks.setdefault(name, 0)


def _before(ban: Ban, ranks: dict[str, int]) -> int:
    after, before = ranks.get(ban.after or ""), ranks.get(ban.before or "")
    if after is None and before is None:
        return 0
    if after is None or before is None:
        return before - 1 if before is not None else (after or 0) + 1
    if after == before:
        return after - 1
    return (after + before - 1) // 2 if after < before else (after + before) // 2
