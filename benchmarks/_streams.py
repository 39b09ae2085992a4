"""Streams and workloads for `hamlet bench engine`, made in memory, the same for the same seed.

Every function gives the text of a workload and a table: `time` (int64, microseconds from zero,
one event each, so strictly increasing), `type` (dictionary of strings), `key` (int64) and `x`
(float64). Partitions are interleaved at random. Sizes are those of the benchmark at 10 million
events and shrink with them: fewer partitions, with as many events in each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from runtime.plan.sharing_plan import SharedPart, SharingPlan

EVENTS = 10_000_000
DATA = Path(__file__).parents[2] / "shared" / "data"

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Columns: TypeAlias = Mapping[str, npt.NDArray[np.generic]]
Mask: TypeAlias = npt.NDArray[np.bool_]


class Stream(NamedTuple):
    workload: str
    table: pa.Table


# ---- one query -----------------------------------------------------------------------------


def trends(
    events: int = EVENTS,
    keys: int | None = None,
    windows: int = 10,
    seed: int = 1,
    returns: str = "COUNT(*), SUM(B.x)",
) -> Stream:
    """`SEQ(A, B+)`, one query: one event in ten is an A."""
    draw = np.random.default_rng(seed)
    key = draw.integers(0, keys or max(1, events // 1_000), events)
    types = (draw.random(events) >= 0.1).astype(np.int64)
    within = _whole(events, windows)
    query = f"RETURN key, {returns} PATTERN SEQ(A, B+) GROUP-BY key WITHIN {within} us"
    return Stream(query, _table(types, ["A", "B"], key, draw.random(events)))


def many_partitions(events: int = EVENTS, each: int = 10, seed: int = 1) -> Stream:
    """A million partitions of ten events: few enough that starting one must cost next to nothing.
    Keys are spread over all whole numbers, so that none is a place in an array."""
    draw = np.random.default_rng(seed)
    key = draw.permutation(np.repeat(_spread(max(1, events // each)), each))[:events]
    types = (draw.random(len(key)) >= 0.3).astype(np.int64)
    query = "RETURN key, COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) GROUP-BY key"
    workload = f"{query} WITHIN {_whole(events, 1)} us"
    return Stream(workload, _table(types, ["A", "B"], key, draw.random(len(key))))


def partitions(count: int, events: int, grouped: bool = True, seed: int = 1) -> Stream:
    """As many partitions as said in one window, in a stream whose length does not depend on it.
    `grouped`: a result row for each, else one for all. Keys are spread, as in `many_partitions`."""
    draw = np.random.default_rng(seed)
    key = draw.permutation(np.resize(_spread(count), events))
    types = (draw.random(events) >= 0.3).astype(np.int64)
    keyed = ("RETURN key, {} GROUP-BY key" if grouped else "RETURN {} WHERE [key]").format(
        "COUNT(*), SUM(B.x) PATTERN SEQ(A, B+)"
    )
    return Stream(
        f"{keyed} WITHIN {events} us", _table(types, ["A", "B"], key, draw.random(events))
    )


def positions(length: int, events: int, kleene: bool, keys: int = 100, seed: int = 1) -> Stream:
    """A pattern of as many types as said, each repeated (`kleene`) or not. The stream has those
    types and no others, so that every event matters whatever the length."""
    draw = np.random.default_rng(seed)
    names = [f"T{place}" for place in range(length)]
    pattern = ", ".join(f"{name}+" if kleene else name for name in names)
    query = f"RETURN COUNT(*), SUM({names[-1]}.x) PATTERN SEQ({pattern}) WHERE [key]"
    types, key = draw.integers(0, length, events), draw.integers(0, keys, events)
    workload = f"{query} WITHIN {_whole(events, 10)} us"
    return Stream(workload, _table(types, names, key, draw.random(events)))


def overlapping(
    windows: int = 60,
    events: int = EVENTS,
    longest: int = 60,
    seed: int = 1,
    panes: int = 100,
    keys: int | None = None,
) -> Stream:
    """Every event in as many windows as said, all of the same length; the stream does not depend
    on how many. 100 panes of 1,000 events for each partition."""
    draw = np.random.default_rng(seed)
    key = draw.integers(0, keys or max(1, events // 100_000), events)
    types = (draw.random(events) >= 0.1).astype(np.int64)
    pane = _whole(events, panes)
    length = f"WITHIN {longest * pane} us SLIDE {longest // windows * pane} us"
    query = f"RETURN key, COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) GROUP-BY key {length}"
    return Stream(query, _table(types, ["A", "B"], key, draw.random(events)))


def adjacent(window: int, events: int = 1_000_000, seed: int = 1, condition: bool = True) -> Stream:
    """Rising prices, in windows of as many events as said, without partitions. Without the
    `condition`, any prices."""
    draw = np.random.default_rng(seed)
    events = _whole(events, window) * window
    rising = "WHERE S.x < NEXT(S).x " if condition else ""
    query = f"RETURN COUNT(*) PATTERN S+ {rising}WITHIN {window} us"
    types = np.zeros(events, np.int64)
    return Stream(query, _table(types, ["S"], types, draw.random(events)))


# ---- many queries --------------------------------------------------------------------------

FORMS = ("own", "few", "mixed")
BURST, BETWEEN = 120, 5


def sharing(
    queries: int = 50,
    events: int = EVENTS,
    form: str = "own",
    windows: int = 2,
    burst: int = BURST,
    grouped: bool = True,
    seed: int = 1,
    ends: int = 10,
    keys: int | None = None,
) -> Stream:
    """Queries with different starts and ends that share `B+`; in each partition bursts of B with
    five starts and ends in between. `grouped`: a result row for each partition that has trends,
    else one for all of them.

    own: a type of its own for the start and for the end of each query, at random, so that an event
    in between concerns one query, and most queries have nothing in a partition. few: ten starts
    (`ends`), then ten ends, a pair of them for each query, so that every query has trends in every
    partition and window. mixed: as few, with patterns and aggregates of several kinds.
    """
    draw = np.random.default_rng(seed)
    size = _whole(events, windows)
    types = queries if form == "own" else ends
    active = np.arange(keys or max(1, events // 1_000))
    names = ["B", *(f"{end}{i}" for end in "AC" for i in range(types))]
    parts = []
    for _ in range(windows):
        key, place = interleaved(draw, active, size)
        inside, others = bursts(place, burst, BETWEEN)
        if form == "own":
            type_ = draw.integers(1, len(names), size)
        else:
            type_ = 1 + (others + key) % ends + others // ends % 2 * ends
        parts.append((np.where(inside, 0, type_), key))
    type_, key = (np.concatenate(each) for each in zip(*parts, strict=True))
    patterns = [_pattern(form, i, ends) for i in range(queries)]
    if grouped:
        patterns = [each.replace("RETURN", "RETURN key,") for each in patterns]
    keyed = "GROUP-BY key" if grouped else "WHERE [key]"
    workload = numbered(patterns, f"{keyed} WITHIN {size} us")
    return Stream(workload, _table(type_, names, key, draw.random(len(key))))


def _pattern(form: str, i: int, ends: int = 10) -> str:
    """RETURN and PATTERN of the i-th query."""
    start, end = (i, i) if form == "own" else (i % ends, (i // ends + i) % ends)
    plain = "COUNT(*), SUM(B.x)"
    if form != "mixed":
        return f"RETURN {plain} PATTERN SEQ(A{start}, B+, C{end})"
    returns = (plain, "COUNT(*), AVG(B.x)", "COUNT(B), MIN(B.x), MAX(B.x)", "COUNT(*)")[i % 4]
    other = (end + 1) % ends
    body = (
        f"SEQ(A{start}, B+, C{end})",
        f"SEQ(A{start}, B+)",
        f"SEQ(A{start}, A{(start + 1) % ends}, B+, C{end}, C{other})",
        f"SEQ(A{start}, B+, (C{end} | C{other}))",
        f"SEQ(B+, C{end})",
    )[i % 5]
    return f"RETURN {returns} PATTERN {body}"


def rounds(queries: int = 50, events: int = EVENTS, windows: int = 2, seed: int = 1) -> Stream:
    """Queries with starts and ends of their own around `SEQ(P, T)+`; in each partition runs of 120
    events that alternate between P and T, so that no burst is longer than one event."""
    draw = np.random.default_rng(seed)
    size = _whole(events, windows)
    names = ["P", "T", *(f"{end}{i}" for end in "AC" for i in range(queries))]
    parts = []
    for _ in range(windows):
        key, place = interleaved(draw, np.arange(max(1, events // 1_000)), size)
        inside, _ = bursts(place, BURST, BETWEEN)
        parts.append((np.where(inside, place % 2, draw.integers(2, len(names), size)), key))
    type_, key = (np.concatenate(each) for each in zip(*parts, strict=True))
    patterns = [
        f"RETURN key, COUNT(*), SUM(T.x) PATTERN SEQ(A{i}, SEQ(P, T)+, C{i})"
        for i in range(queries)
    ]
    workload = numbered(patterns, f"GROUP-BY key WITHIN {size} us")
    return Stream(workload, _table(type_, names, key, draw.random(len(key))))


def rounds_plan(queries: int = 50) -> SharingPlan:
    """All of them share the rounds."""
    names = tuple(f"q{i}" for i in range(queries))
    return SharingPlan(shared=(SharedPart(names, (("P", "T"), ("T", "P"))),))


# ---- bursts and conditions that change -----------------------------------------------------

# The length of bursts, and whether conditions pick the same events for all queries.
KINDS = {
    "long_agreeing": (120, True),
    "short_agreeing": (4, True),
    "long_differing": (120, False),
    "short_differing": (4, False),
}
STARTS = 5
LOWEST = 100


def steady(kind: str, events: int = EVENTS, queries: int = 20, seed: int = 1) -> Stream:
    """One kind of burst throughout."""
    return changing(events, queries, (kind,), seed=seed)


def changing(
    events: int = EVENTS,
    queries: int = 20,
    kinds: Sequence[str] = ("long_agreeing", "short_differing"),
    windows: int = 20,
    phase: int = 2,
    seed: int = 1,
) -> Stream:
    """Queries `B.x < limit` of which each has its own limit. In an agreeing window all x lie
    below all limits; in a differing one they are spread, so that most events are picked by some
    queries and not by others. The kind changes every `phase` windows. In a window a tenth of the
    partitions is active, with 500 events in each."""
    draw = np.random.default_rng(seed)
    size = _whole(events, windows)
    active = max(1, size // 500)
    names = ["B", *(f"A{i}" for i in range(STARTS))]
    parts = []
    for window in range(windows):
        burst, agreeing = KINDS[kinds[window // phase % len(kinds)]]
        keys = (window * active + np.arange(active)) % (10 * active)
        key, place = interleaved(draw, keys, size)
        inside, _ = bursts(place, burst, 1)
        type_ = np.where(inside, 0, draw.integers(1, len(names), size))
        x = np.floor(draw.random(len(key)) * (LOWEST if agreeing else 1_000))
        parts.append((type_, key, x))
    type_, key, x = (np.concatenate(each) for each in zip(*parts, strict=True))
    limits = np.linspace(LOWEST, 1_000, queries, endpoint=False).astype(int)
    patterns = [
        f"RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A{i % STARTS}, B+) WHERE [key] AND B.x < {limit}"
        for i, limit in enumerate(limits)
    ]
    return Stream(numbered(patterns, f"WITHIN {size} us"), _table(type_, names, key, x))


# ---- the HAMLET authors' own ---------------------------------------------------------------


def data_folder() -> Path | None:
    """$HAMLET_DATA, or `shared/data` beside the checkout; None where neither is there."""
    named = os.environ.get("HAMLET_DATA")
    folder = Path(named) if named else DATA
    return folder if (folder / "hamlet_stream_shared_10.txt").is_file() else None


def authors(folder: Path, queries: int = 50, events: int = 100_000, window: int = 5_000) -> Stream:
    """Their stream (ordinal, type, a constant) and one of their workloads (a query per line),
    in windows of `window` events."""
    text = (folder / "hamlet_stream_shared_10.txt").read_text(encoding="utf-8")
    numbers = np.fromstring(text.replace("\n", ","), dtype=np.int64, sep=",").reshape(-1, 3)[
        :events
    ]
    kinds, type_ = np.unique(numbers[:, 1], return_inverse=True)
    names = [str(kind) for kind in kinds]
    table = _table(type_, names, np.zeros(len(type_), np.int64), numbers[:, 2].astype(np.float64))
    lines = (folder / f"hamlet_workload_size_{queries}.txt").read_text(encoding="utf-8").split()
    patterns = [f"RETURN COUNT(*) PATTERN {_authors_pattern(line)}" for line in lines]
    return Stream(numbered(patterns, f"WITHIN {window} events"), table)


def _authors_pattern(line: str) -> str:
    """`12,1,2+` as `SEQ("12", "1", "2"+)`."""
    parts = [f'"{part.rstrip("+")}"' + "+" * part.endswith("+") for part in line.split(",")]
    return f"SEQ({', '.join(parts)})"


# ---- pieces --------------------------------------------------------------------------------


def shifted(table: pa.Table, time: int = 0, key: int = 0) -> pa.Table:
    """The same events later, in other partitions."""
    for name, by in (("time", time), ("key", key)):
        values = table.column(name).to_numpy() + by
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values))
    return table


def with_strings(table: pa.Table) -> pa.Table:
    """Keys and types as text, as files have them."""
    keys = pc.binary_join_element_wise(
        "driver-", pc.utf8_lpad(table["key"].cast(pa.string()), 6, "0"), ""
    )
    table = table.set_column(table.schema.get_field_index("key"), "key", keys)
    types = table["type"].cast(pa.string())
    return table.set_column(table.schema.get_field_index("type"), "type", types)


def _table(types: Ints, names: Sequence[str], key: Ints, x: Floats) -> pa.Table:
    return timed(types, names, {"key": key, "x": x})


def timed(types: Ints, names: Sequence[str], columns: Columns) -> pa.Table:
    """Events of these types, a microsecond apart, with their attributes."""
    places = pa.array(types.astype(np.int8 if len(names) < 128 else np.int32))
    return pa.table(
        {
            "time": pa.array(np.arange(len(types), dtype=np.int64)),
            "type": pa.DictionaryArray.from_arrays(places, pa.array(names, pa.string())),
            **{name: pa.array(values) for name, values in columns.items()},
        }
    )


def numbered(queries: Iterable[str], ending: str) -> str:
    """The text of a workload: q0, q1 and so on, all with the same last clauses."""
    return "\n".join(f"QUERY q{i} {query} {ending}" for i, query in enumerate(queries))


def interleaved(draw: np.random.Generator, keys: Ints, size: int) -> tuple[Ints, Ints]:
    """`size` events in random order, as many for each key, and their places within their keys."""
    slots = draw.permutation(np.resize(np.arange(len(keys)), size))
    order = np.argsort(slots, kind="stable")
    counts = np.bincount(slots, minlength=len(keys))
    place = np.empty(size, np.int64)
    place[order] = np.arange(size) - np.repeat(np.cumsum(counts) - counts, counts)
    return keys[slots], place


def bursts(place: Ints, burst: int, between: int) -> tuple[Mask, Ints]:
    """By place in the partition, `between` events and then a burst, over and over: whether an
    event is in a burst, and how many were between bursts before it."""
    turn, at = np.divmod(place, between + burst)
    return at >= between, turn * between + np.minimum(at, between)


def _spread(count: int) -> Ints:
    """Different whole numbers, far apart: an odd factor has an inverse modulo 2**64."""
    numbers = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return numbers.view(np.int64)


def _whole(events: int, parts: int) -> int:
    return max(1, events // parts)
