"""Generates `kernel/steps.py` for one workload: the code that its merged template runs per event.

Reading tables costs more than the arithmetic they describe. So the work for every event is
generated as code and, if a share group has few states, its operators are too: offsets in the row,
predecessors, lanes and loops are constants. Only numbers are inserted into the code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

from runtime.execution.operators.graphlet.kernel import record as k

if TYPE_CHECKING:
    from runtime.execution.operators.graphlet.row_layout import RowLayout
from runtime.plan.operators.graphlet.layout import StateEntry

FEW_TYPES = 8

_HEAD = '''"""What this workload's merged template does with an event; see `graphlet/codegen.py`."""

import numpy as np

from runtime.execution.jit import inlined

from . import interpreted_step as by_tables
from .vectors import start_of, vectors
from .record import *

apply_by_tables, enter_by_tables = by_tables.apply_agreed, by_tables.enter
add_by_tables = by_tables.add_to_burst
enter_entry, apply_entry = by_tables.enter_entry, by_tables.apply_entry
'''


def source(layout: RowLayout) -> str:
    lines = [_HEAD, *_add_to_burst(layout), *_at_once(layout)]
    if layout.is_unrolled:
        lines += [*_enter(layout), *_apply_agreed(layout)]
    else:
        lines += ["enter = enter_by_tables", "apply_agreed = apply_by_tables"]
    return "\n".join(lines) + "\n"


# ---- an event joins its burst ----------------------------------------------------------------


def _add_to_burst(layout: RowLayout) -> Iterator[str]:
    kept = [t for t in layout.types if layout.sum_columns[t] or layout.extremes[t]]
    if len(kept) > FEW_TYPES:
        yield "add_to_burst = add_by_tables"
        return
    yield from ("", "", "@inlined", "def add_to_burst(h, s, i, t, values, keys):")
    yield "    ri, rf = h.ri, h.rf"
    yield "    ri[s, COUNT] += 1"
    for type_ in kept:
        yield f"    if t == {layout.types.index(type_)}:"
        for j, attribute in enumerate(layout.sum_columns[type_]):
            yield f"        x = values[{layout.attributes.index(attribute)}, i]"
            yield "        if x == x:"
            yield f"            rf[s, ACC + {2 * j}] += x"
            yield "        else:"
            yield f"            rf[s, ACC + {2 * j + 1}] += 1.0"
        for j, extreme in enumerate(layout.extremes[type_]):
            yield f"        key = keys[{layout.extreme_lanes.index(extreme)}, i]"
            yield f"        if key < ri[s, MIN_AT + {j}]:"
            yield f"            ri[s, MIN_AT + {j}] = key"


# ---- an event outside of bursts --------------------------------------------------------------


def _single(layout: RowLayout) -> list[str]:
    """Types that do not benefit from bursts: few states, none of which repeats them."""
    if not layout.is_unrolled:
        return []
    loops = {
        e.type for e in layout.entries if e.position in layout.all_row_classes[e.row_class].loops
    }
    return [type_ for type_ in layout.types if type_ not in loops]


def _at_once(layout: RowLayout) -> Iterator[str]:
    tests = [f"t == {layout.types.index(type_)}" for type_ in _single(layout)]
    yield from ("", "", "@inlined", "def at_once(t):")
    yield f"    return {' or '.join(tests) or 'False'}"


def _enter(layout: RowLayout) -> Iterator[str]:
    yield from ("", "", "@inlined", "def enter(h, s, i, t, mask, values, keys):")
    yield "    ri, rf = h.ri, h.rf"
    yield "    if ri[s, FLAGS] & BIG:"
    yield "        enter_by_tables(h, s, i, t, mask, values, keys)"
    yield "        return"
    for type_ in _single(layout):
        yield f"    if t == {layout.types.index(type_)}:"
        for j, attribute in enumerate(layout.sum_columns[type_]):
            yield f"        x{j} = values[{layout.attributes.index(attribute)}, i]"
            yield f"        ones{j} = 1.0 if x{j} == x{j} else 0.0"
            yield f"        x{j} = x{j} if x{j} == x{j} else 0.0"
        for number, entry in _entries(layout, type_):
            if layout.shape["BUFFERS"]:
                yield f"        if mask >> {entry.bit} & 1:"
                yield from ("    " + line for line in _Event(layout, number, entry).lines())
            else:
                yield from _Event(layout, number, entry).lines()


# ---- a burst ends ----------------------------------------------------------------------------


def _apply_agreed(layout: RowLayout) -> Iterator[str]:
    yield from ("", "", "@inlined", "def apply_agreed(h, s, t, count):")
    yield "    ri, rf = h.ri, h.rf"
    yield "    if ri[s, FLAGS] & BIG or count > EXACT_POWER:"
    yield "        apply_by_tables(h, s, t, count)"
    yield "        return"
    yield "    c = np.float64(count)"
    yield "    scale = POWERS[count - 1]"
    yield "    g = POWERS[count] - 1.0"
    single = _single(layout)
    for type_ in layout.types:
        if type_ not in single:
            yield f"    if t == {layout.types.index(type_)}:"
            for number, entry in _entries(layout, type_):
                yield from _Burst(layout, number, entry).lines()


def _entries(layout: RowLayout, type_: str) -> Iterator[tuple[int, StateEntry]]:
    return ((n, entry) for n, entry in enumerate(layout.entries) if entry.type == type_)


class _Operator(ABC):
    """The code that applies an operator to the states of one entry."""

    def __init__(self, layout: RowLayout, number: int, entry: StateEntry) -> None:
        row_class = layout.row_classes[entry.row_class]
        self._layout = layout
        self._number = number
        self._entry = entry
        self._row_class = row_class
        self._first = entry.position in row_class.first
        self._loop = entry.position in row_class.loops
        before = row_class.before[entry.position]
        self._preds = [p * row_class.state_size for p in before]
        self._active_preds = [p * row_class.state_size for p in before if p in row_class.active]
        self._at = entry.position * row_class.state_size
        self._sliding = bool(layout.shape["SLIDING"])

    def lines(self) -> Iterator[str]:
        indent = " " * 8
        if self._sliding:
            q = f"h.tab[T_ROW_CLASS] + {self._entry.row_class * k.RC_SIZE}"
            yield f"{indent}at, step, idle = vectors(h, s, {q})"
            yield f"{indent}for v in range(step):"
            indent += " " * 4
            yield f"{indent}base = at + v"
            yield f"{indent}start = start_of(v, idle)"
        else:
            windows = self._layout.vectors_at[self._entry.row_class]
            yield f"{indent}base, step, start = STATES_AT + {windows}, 1, 1.0"
        for line in self._body():
            yield indent + line

    def _body(self) -> Iterator[str]:
        factor = self._factor()
        product = f"{factor} * " if factor else ""
        yield f"n = rf[s, {self._word(self._at)}]"
        yield f"u = {self._sum('n', 0, start=self._first)}"
        yield "if u != 0.0:"
        yield f"    total = n + {product}u"
        fits = ["total < LIMIT"]
        lanes = self._row_class.sums if self._entry.position in self._row_class.active else ()
        for j, lane in enumerate(lanes, 1):
            part = self._part(self._layout.sum_part(self._entry.type, self._entry.position, lane))
            yield f"    a{j} = rf[s, {self._word(self._at + j)}]"
            yield f"    w = {self._sum(f'a{j}', j, start=False)}"
            more = f" + {part} * u" if part else ""
            yield f"    a{j} += {product}w{more}"
            fits.append(f"abs(a{j}) < LIMIT")
        yield f"    if {' and '.join(fits)}:"
        yield f"        rf[s, {self._word(self._at)}] = total"
        for j, _ in enumerate(lanes, 1):
            yield f"        rf[s, {self._word(self._at + j)}] = a{j}"
        yield from ("        " + line for line in self._minima(1 + len(self._row_class.sums)))
        yield "    else:"
        yield f"        {self._too_large()}"

    def _word(self, offset: int) -> str:
        """A word of the vector."""
        if self._sliding:
            return f"base + step * {offset}"
        return f"STATES_AT + {self._layout.vectors_at[self._entry.row_class] + offset}"

    def _sum(self, own: str, lane: int, *, start: bool) -> str:
        """The trends that the first event extends, in a lane (the count at offset 0)."""
        terms = [own] if self._loop else []
        terms += ["start"] if start else []
        preds = self._preds if lane == 0 else self._active_preds
        terms += [f"rf[s, {self._word(p + lane)}]" for p in preds]
        return " + ".join(terms) or "0.0"

    def _minima(self, lanes: int) -> Iterator[str]:
        for j, lane in enumerate(self._row_class.mins):
            word = self._word(self._at + lanes + j)
            yield f"low = ri[s, {word}]"
            for p in self._preds:
                yield f"low = min(low, ri[s, {self._word(p + lanes + j)}])"
            part = self._layout.min_part(self._entry.type, self._entry.position, lane)
            if part >= 0:
                yield f"low = min(low, {self._least(part)})"
            yield f"ri[s, {word}] = low"

    @abstractmethod
    def _factor(self) -> str:
        """The factor of the number of extended trends; empty for 1."""

    @abstractmethod
    def _part(self, part: int) -> str:
        """The value of the events that a lane aggregates."""

    @abstractmethod
    def _least(self, part: int) -> str:
        """The least of an attribute's values."""

    @abstractmethod
    def _too_large(self) -> str:
        """The call that continues with exponents."""


class _Burst(_Operator):
    """Of the agreed events of a burst."""

    def _factor(self) -> str:
        return "g" if self._loop else "c"

    def _part(self, part: int) -> str:
        if part == k.NOTHING:
            return ""
        scale = "scale * " if self._loop else ""
        if part == k.EVENTS_OF:
            return f"{scale}c"
        place = f"rf[s, ACC + {part - 2}]"
        return scale + (place if part % 2 == 0 else f"(c - {place})")

    def _least(self, part: int) -> str:
        return f"ri[s, MIN_AT + {part}]"

    def _too_large(self) -> str:
        return f"apply_entry(h, s, t, {self._number}, count, base, step, start)"


class _Event(_Operator):
    """Of one event."""

    def _factor(self) -> str:
        return ""

    def _part(self, part: int) -> str:
        if part == k.NOTHING:
            return ""
        if part == k.EVENTS_OF:
            return "1.0"
        return f"{'x' if part % 2 == 0 else 'ones'}{(part - 2) // 2}"

    def _least(self, part: int) -> str:
        ordered = self._layout.extreme_lanes.index(self._layout.extremes[self._entry.type][part])
        return f"keys[{ordered}, i]"

    def _too_large(self) -> str:
        return f"enter_entry(h, s, t, {self._number}, i, values, keys, base, step, start)"
