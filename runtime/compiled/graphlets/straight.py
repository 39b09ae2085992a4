"""Straight-line code for the operators of a small share group.

Tables cost more than the arithmetic they describe, so where a share group has few entries, its
`apply_straight` is written out: places in the row, predecessors, lanes and loops are constants.
Only numbers go into the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from runtime.compiled.graphlets import kernel as k
from runtime.compiled.graphlets.sizes import block_size, mins_of, state_size, sums_of

if TYPE_CHECKING:
    from runtime.compiled.graphlets.layout import Entry, Layout

_HEAD = '''@inlined
def apply_straight(s, t, count, ri, rf, ex, tab, wi, wf):
    """Applies the operator of the agreed events to all entries of a type, without tables."""
    c = np.float64(count)
    scale = POWERS[count - 1]
    g = POWERS[count] - 1.0
'''


def source(layout: Layout) -> str:
    lines = [_HEAD]
    for place, type_ in enumerate(layout.types):
        lines.append(f"    {'if' if place == 0 else 'elif'} t == {place}:")
        for number, entry in enumerate(layout.entries):
            if entry.type == type_:
                lines += _Entry(layout, number, entry).lines()
    return "\n".join(lines) + "\n"


class _Entry:
    """The code of one entry."""

    def __init__(self, layout: Layout, number: int, entry: Entry) -> None:
        query = layout.form(entry.form)
        automaton = query.template.automaton
        self._layout = layout
        self._number = number
        self._entry = entry
        self._query = query
        self._first = entry.position in automaton.first
        self._loop = entry.position in automaton.follow[entry.position]
        self._preds = [
            p * state_size(query)
            for p, after in automaton.follow.items()
            if entry.position in after and p != entry.position
        ]
        self._at = entry.position * state_size(query)
        self._sliding = bool(layout.shape["SLIDING"])

    def lines(self) -> Iterator[str]:
        indent = " " * 8
        if self._sliding:
            q = f"tab[T_FORM] + {self._entry.form * k.F_SIZE}"
            yield f"{indent}at, number, idle = vectors(s, {q}, ri, tab)"
            yield f"{indent}for v in range(number):"
            indent += " " * 4
            yield f"{indent}base = at + v * {block_size(self._query)}"
            yield f"{indent}start = start_of(v, idle)"
        else:
            windows = self._layout.vectors_at[self._entry.form]
            yield f"{indent}base, start = STATES_AT + {windows}, 1.0"
        for line in self._body():
            yield indent + line

    def _body(self) -> Iterator[str]:
        g = "g" if self._loop else "c"
        yield f"n = rf[s, {self._word(self._at)}]"
        yield f"u = {self._sum('n', self._at, start=self._first)}"
        yield "if u != 0.0:"
        yield f"    total = n + {g} * u"
        fits = ["total < LIMIT"]
        lanes = sums_of(self._query)
        for j, lane in enumerate(lanes, 1):
            part = self._part(self._layout.sum_part(self._entry.type, self._entry.position, lane))
            yield f"    a{j} = rf[s, {self._word(self._at + j)}]"
            before = self._sum(f"a{j}", j, start=False)
            yield f"    w = {before}"
            more = f" + {'scale * ' if self._loop else ''}{part} * u" if part else ""
            yield f"    a{j} += {g} * w{more}"
            fits.append(f"abs(a{j}) < LIMIT")
        yield f"    if {' and '.join(fits)}:"
        yield f"        rf[s, {self._word(self._at)}] = total"
        for j, _ in enumerate(lanes, 1):
            yield f"        rf[s, {self._word(self._at + j)}] = a{j}"
        yield from ("        " + line for line in self._minima(1 + len(lanes)))
        yield "    else:"
        yield (
            f"        too_large(s, t, {self._number}, count, base, start, ri, rf, ex, tab, wi, wf)"
        )

    def _word(self, offset: int) -> str:
        """A place of the vector."""
        if self._sliding:
            return f"base + {offset}"
        return f"STATES_AT + {self._layout.vectors_at[self._entry.form] + offset}"

    def _sum(self, own: str, lane: int, *, start: bool) -> str:
        """What the burst's first event would extend, in a lane (the count at offset 0)."""
        lane = 0 if own == "n" else lane
        terms = [own] if self._loop else []
        terms += ["start"] if start else []
        terms += [f"rf[s, {self._word(p + lane)}]" for p in self._preds]
        return " + ".join(terms) or "0.0"

    def _part(self, part: int) -> str:
        if part == k.NOTHING:
            return ""
        if part == k.EVENTS_OF:
            return "c"
        place = f"rf[s, ACC + {part - 2}]"
        return place if part % 2 == 0 else f"(c - {place})"

    def _minima(self, lanes: int) -> Iterator[str]:
        for j, lane in enumerate(mins_of(self._query)):
            word = self._word(self._at + lanes + j)
            yield f"low = ri[s, {word}]"
            for p in self._preds:
                yield f"low = min(low, ri[s, {self._word(p + lanes + j)}])"
            part = self._layout.min_part(self._entry.type, self._entry.position, lane)
            if part >= 0:
                yield f"low = min(low, ri[s, MIN_AT + {part}])"
            yield f"ri[s, {word}] = low"
