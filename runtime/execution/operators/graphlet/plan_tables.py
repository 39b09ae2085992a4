"""Builds the tables of a share group's kernel as one array of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from runtime.execution.operators.graphlet.kernel import record as k
from runtime.execution.operators.graphlet.kernel_layout import KernelLayout
from runtime.plan.operators.graphlet.layout import StateEntry
from runtime.plan.operators.graphlet.row_width import mins_of, sums_of
from runtime.plan.operators.graphlet.shared_subpattern import SharedSubpattern, adjoins


def tables(layout: KernelLayout) -> npt.NDArray[np.int64]:
    return np.array(_Tables(layout).words, np.int64)


class _Tables:
    """A list of words to which tables are appended; the first words are their offsets."""

    def __init__(self, layout: KernelLayout) -> None:
        self._layout = layout
        self.words = [0] * k.T_SIZE
        self._add_types()
        self._row_classes_at = self._add_row_classes()
        entries_at = self._add_entries(layout.entries)
        self.words[k.T_ENTRIES] = entries_at
        bits = [word for t in layout.types for word in self._bits(t, entries_at)]
        self._add(k.T_BITS, bits)
        self._add(k.T_WIDE, self._spans(layout.wide_entries))
        if layout.parts:
            self._add(k.T_TIED, self._spans(layout.tied_entries))
        else:
            self._add(k.T_TIED, self._spans(layout.entries, entries_at))
        self._add_parts()

    def _add(self, name: int, words: Sequence[int]) -> tuple[int, int]:
        self.words[name] = begin = len(self.words)
        self.words += words
        return begin, len(self.words)

    # ---- types and row classes -------------------------------------------------------------

    def _add_types(self) -> None:
        layout, types = self._layout, self._layout.types
        self.words[k.T_TYPES] = len(types)
        self._add(k.T_FULL, [_all_bits(len(layout.conditions[t])) for t in types])
        attrs = [[layout.attributes.index(a) for a in layout.sum_columns[t]] for t in types]
        self._add(k.T_ATTRS, _counted(attrs, layout.shape["ATTRS"]))
        mins = [[layout.extreme_lanes.index(x) for x in layout.extremes[t]] for t in types]
        self._add(k.T_MINS, _counted(mins, layout.shape["MINS"]))
        order = [number for members in layout.members for number in members]
        self._add(k.T_NUMBERS, order)
        # Windows that count events begin with the first event that counts.
        since = [0 if layout.counted else layout.since[number] for number in order]
        self._add(k.T_SINCE, since)

    def _add_row_classes(self) -> int:
        layout = self._layout
        self.words[k.T_ROW_CLASSES] = len(layout.row_classes)
        lasts = [
            word
            for row_class, members in zip(layout.row_classes, layout.members, strict=True)
            for n in members
            for word in self._add(
                k.T_LASTS, [layout.states[n][p] * row_class.state_size for p in row_class.last]
            )
        ]
        self._add(k.T_LASTS, lasts)
        words = [word for n, _ in enumerate(layout.all_row_classes) for word in self._row_class(n)]
        return self._add(k.T_ROW_CLASS, words)[0]

    def _row_class(self, number: int) -> list[int]:
        layout, row_class = self._layout, self._layout.all_row_classes[number]
        return [
            layout.windows_at[number],
            layout.columns_at[number] if number < len(layout.row_classes) else 0,
            row_class.vectors,
            row_class.states,
            len(row_class.sums),
            len(row_class.mins),
            row_class.window.within,
            row_class.window.slide,
            row_class.block,
            number >= len(layout.row_classes)
            or row_class.window.within % row_class.window.slide == 0,
            row_class.side,
            sum(each.side for each in layout.row_classes[:number]),
        ]

    # ---- entries ---------------------------------------------------------------------------

    @property
    def _entry_size(self) -> int:
        return k.E_LANES + self._layout.shape["LANES"] + self._layout.shape["MINS"]

    def _add_entries(self, entries: list[StateEntry]) -> int:
        preds = [self._add(k.T_PREDS, self._preds(entry)) for entry in entries]
        begin = len(self.words)
        at = {entry: begin + n * self._entry_size for n, entry in enumerate(entries)}
        roles = {entry: self._layout.role(entry) for entry in entries}
        ends = {(e.type, e.bit + 1, e.row_class, roles[e], e.place + e.queries): e for e in entries}
        begins = {e: (e.type, e.bit, e.row_class, roles[e], e.place) for e in entries}
        words: list[int] = []
        follower: dict[StateEntry, StateEntry] = {
            before: entry for entry in entries if (before := ends.get(begins[entry]))
        }
        alike = {
            each: n
            for n, each in enumerate(dict.fromkeys((e.row_class, roles[e]) for e in entries))
        }
        steps = self._steps(entries)
        steps_at = begin + len(entries) * self._entry_size
        for n, (entry, span) in enumerate(zip(entries, preds, strict=True)):
            previous, following = ends.get(begins[entry]), follower.get(entry)
            sides = (at[previous] if previous else 0, at[following] if following else 0)
            steps_of_entry = (
                steps[n],
                steps_at + n * k.S_SIZE,
                alike[entry.row_class, roles[entry]],
            )
            words += self._entry(entry, span, sides, steps_of_entry)
        self._add(k.T_ENTRIES, words)
        self._add(k.T_STEPS, [word for e in entries for word in self._step(e, at[e])])
        return begin

    def _steps(self, entries: list[StateEntry]) -> list[int]:
        """For each entry the number of steps of its type and bit from it on."""
        found: list[int] = []
        following = None
        for entry in reversed(entries):
            alike = following is not None and following[:2] == entry[:2]
            found.append(1 + (found[-1] if alike else 0) if self._layout.steps(entry) else 0)
            following = entry
        return found[::-1]

    def _preds(self, entry: StateEntry) -> list[int]:
        """The preceding states, first those whose sums are always zero."""
        row_class = self._layout.all_row_classes[entry.row_class]
        before = sorted(row_class.before[entry.position], key=lambda p: p in row_class.active)
        return [self._layout.state(entry, p) * row_class.state_size for p in before]

    def _entry(
        self,
        entry: StateEntry,
        preds: tuple[int, int],
        sides: tuple[int, int],
        steps: tuple[int, int, int],
    ) -> list[int]:
        layout, p = self._layout, entry.position
        row_class = layout.all_row_classes[entry.row_class]
        lanes = [layout.sum_part(entry.type, p, lane) for lane in row_class.sums]
        mins = [layout.min_part(entry.type, p, lane) for lane in row_class.mins]
        return [
            layout.state(entry) * row_class.state_size,
            p in row_class.loops,
            p in row_class.first,
            entry.bit,
            self._row_classes_at + entry.row_class * k.RC_SIZE,
            *preds,
            entry.place,
            entry.queries,
            *sides,
            len(lanes) if p in row_class.active else 0,
            preds[1] - sum(before in row_class.active for before in row_class.before[p]),
            *steps,
            *_padded([lanes], layout.shape["LANES"], 0),
            *_padded([mins], layout.shape["MINS"]),
        ]

    def _spans(self, entries: list[StateEntry], begin: int | None = None) -> list[int]:
        """The start and end of the entries of each type. Adds the entries if necessary."""
        begin = self._add_entries(entries) if begin is None else begin
        found = []
        for type_ in self._layout.types:
            mine = [n for n, entry in enumerate(entries) if entry.type == type_]
            found += [begin + n * self._entry_size for n in (mine[0], mine[-1] + 1)]
        return found

    def _bits(self, type_: str, entries_at: int) -> list[int]:
        """The start of the entries of each bit, the end of the last, and all their queries."""
        entries = self._layout.entries
        mine = [entry for entry in entries if entry.type == type_]
        first = entries.index(mine[0])
        begins = [first + sum(entry.bit < d for entry in mine) for d in range(65)]
        return [
            *(entries_at + n * self._entry_size for n in begins),
            self._layout.states_entered(type_),
            type_ in self._layout.kleene_types,
        ]

    def _step(self, entry: StateEntry, at: int) -> list[int]:
        layout, row_class = self._layout, self._layout.all_row_classes[entry.row_class]
        before = row_class.before[entry.position]
        return [
            self._row_classes_at + entry.row_class * k.RC_SIZE,
            layout.state(entry) * row_class.state_size + entry.place,
            layout.state(entry, before[0]) * row_class.state_size + entry.place if before else -1,
            entry.queries,
            len(row_class.sums) if entry.position in row_class.active else 0,
            any(p in row_class.active for p in before),
            at,
            0,
        ]

    # ---- longer parts ----------------------------------------------------------------------

    def _add_parts(self) -> None:
        layout = self._layout
        self.words[k.T_PARTS] = len(layout.parts)
        runs = [self._add(k.T_RUNS, self._runs(part)) for part in layout.parts]
        words: list[int] = []
        for n, (part, span) in enumerate(zip(layout.parts, runs, strict=True)):
            number = len(layout.row_classes) + n
            states = layout.all_row_classes[number].states
            words += [self._row_classes_at + number * k.RC_SIZE, states, len(part.types), *span]
        self._add(k.T_PART, words)
        touched = [[self._touches(t, part) for part in layout.parts] for t in layout.types]
        stepped = [[t in part.types for part in layout.parts] for t in layout.types]
        self._add(k.T_TOUCHED, [_flags(holds) for holds in touched])
        self._add(k.T_STEPPED, [_flags(holds) for holds in stepped])

    def _touches(self, type_: str, part: SharedSubpattern) -> bool:
        """Whether events of a type affect the input of the part, or continue from inside it."""
        queries = [q for q in self._layout.queries if q.name in part.queries]
        return type_ not in part.types and any(adjoins(q, type_, part) for q in queries)

    def _runs(self, part: SharedSubpattern) -> list[int]:
        """The offsets of the descriptions of each run of contiguous queries of the part."""
        found = []
        for class_number, members in enumerate(self._layout.members):
            place = 0
            while place < len(members):
                end = place
                while end < len(members) and self._shares(part, members[place], members[end]):
                    end += 1
                if end > place:
                    found.append(self._run(part, class_number, place, end - place))
                place = max(end, place + 1)
        return found

    def _shares(self, part: SharedSubpattern, first: int, number: int) -> bool:
        """Whether a query shares the part with the same states as the first of its run."""
        queries = self._layout.queries
        if not {queries[first].name, queries[number].name} <= set(part.queries):
            return False
        return part.positions(queries[first]) == part.positions(queries[number])

    def _run(self, part: SharedSubpattern, class_number: int, place: int, count: int) -> int:
        layout, row_class = self._layout, self._layout.row_classes[class_number]
        query = layout.queries[layout.members[class_number][place]]
        inside = part.positions(query)
        columns: list[int] = []
        for position in inside:
            columns += [0, *self._add(k.T_PREDS, [position * row_class.state_size])]
        for entered in part.entered:
            position = inside[entered]
            outside = [
                p * row_class.state_size for p in row_class.before[position] if p not in inside
            ]
            columns += [position in row_class.first, *self._add(k.T_PREDS, outside)]
        lanes = [part.lane(query, lane) for lane in (*sums_of(query), *mins_of(query))]
        at = self._row_classes_at + class_number * k.RC_SIZE
        return self._add(k.T_RUNS, [at, place, count, *columns, *lanes])[0]


def _padded(rows: list[list[int]], width: int, filler: int = -1) -> list[int]:
    return [n for row in rows for n in [*row, *[filler] * (width - len(row))]]


def _counted(rows: list[list[int]], width: int) -> list[int]:
    """Like `_padded`, with the length before each row."""
    return _padded([[len(row), *row] for row in rows], width + 1)


def _all_bits(count: int) -> int:
    """The lowest bits, as a signed word."""
    return (1 << count) - 1 if count < 64 else -1


def _flags(holds: list[bool]) -> int:
    """A bit mask of the shared parts for which `holds` is true."""
    return sum(k.PENDING << n for n, each in enumerate(holds) if each)
