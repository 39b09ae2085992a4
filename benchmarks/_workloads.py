"""Workloads of many queries with parts in common, for `hamlet bench sharing`: those of section VIII
of SHARON (sequences) and of section 8 of GLORIA (sequences and nested Kleene patterns, mixed).

Every function gives the text of a workload, its events, and the events of each type in a window;
the same for the same seed. Times are microseconds from zero, one event each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks._streams import Columns, Ints, interleaved, timed

EVENTS = 1_000_000
# As in SHARON: 200,000 events in a window of 10 minutes, which slides by one.
WINDOW, SLIDES = 200_000, 10


class Workload(NamedTuple):
    text: str
    table: pa.Table
    rates: Mapping[str, float]  #: of types


# ---- sequences: routes through a network of streets ----------------------------------------

ROADS, BLOCKS, SIDE_STREETS = 3, 8, 24
# A main road is long: a vehicle reports twice from each of its blocks, once from a side street.
ON_MAIN_ROAD = 2


def sharon(
    queries: int = 120,
    length: int = 10,
    events: int = EVENTS,
    *,
    sliding: bool = True,
    vehicles: int = 100,
    window: int = WINDOW,
    seed: int = 1,
) -> Workload:
    """How many vehicles took a route, as in figure 1 of SHARON. A route goes from side streets to a
    main road, over some of its blocks, and into side streets again; where in the route that is
    differs. Half of the trips are along a route that is asked for, the others along any route. Each
    query counts; one in four adds up speeds, one in four takes their average. A stream that is
    shorter than two windows has shorter ones, so that some close."""
    random, draw = Random(seed), np.random.default_rng(seed)
    routes = [_route(random, length) for _ in range(queries)]
    names = sorted({*_main_roads(), *_side_streets()})
    ending = _ending(min(window, events // 2), sliding)
    text = "\n".join(
        f"QUERY q{n} RETURN {_speeds(n, route)} PATTERN SEQ({', '.join(route)}) "
        f"WHERE [vehicle] {ending}"
        for n, route in enumerate(routes)
    )
    vehicle, place = interleaved(draw, np.arange(vehicles), events)
    driven = [_drive(random, routes, length, int(each)) for each in np.bincount(vehicle)]
    begins = np.cumsum([0, *map(len, driven)])
    numbers = {name: number for number, name in enumerate(names)}
    streets = np.array([numbers[street] for each in driven for street in each], np.int64)
    types = streets[begins[vehicle] + place]
    return _made(
        text, types, names, {"vehicle": vehicle, "speed": np.round(90 * draw.random(events))}
    )


def _main_roads() -> list[str]:
    return [f"Road{road}Block{block}" for road in range(ROADS) for block in range(BLOCKS)]


def _side_streets() -> list[str]:
    return [f"Side{road}_{street}" for road in range(ROADS) for street in range(SIDE_STREETS)]


def _route(random: Random, length: int) -> list[str]:
    """Streets in the order in which they are passed, none of them twice."""
    road = random.randrange(ROADS)
    blocks = min(random.randint(4, 6), length - 2)
    begin = random.randrange(BLOCKS - blocks + 1)
    before = random.randint(1, length - blocks - 1)
    main = [f"Road{road}Block{block}" for block in range(begin, begin + blocks)]
    sides = random.sample([f"Side{road}_{n}" for n in range(SIDE_STREETS)], length - blocks)
    return [*sides[:before], *main, *sides[before:]]


def _drive(random: Random, routes: Sequence[list[str]], length: int, reports: int) -> list[str]:
    """What a vehicle reports, trip by trip."""
    found: list[str] = []
    while len(found) < reports:
        route = random.choice(routes) if random.random() < 0.5 else _route(random, length)
        for street in route:
            found += [street] * (ON_MAIN_ROAD if street.startswith("Road") else 1)
    return found[:reports]


def _speeds(number: int, route: Sequence[str]) -> str:
    main = next(street for street in route if street.startswith("Road"))
    return ("COUNT(*)", f"COUNT(*), SUM({main}.speed)", "COUNT(*)", f"COUNT(*), AVG({main}.speed)")[
        number % 4
    ]


def _ending(window: int, sliding: bool) -> str:
    slide = max(1, window // SLIDES)
    return f"WITHIN {SLIDES * slide} us" + f" SLIDE {slide} us" * sliding


# ---- sequences and nested Kleene patterns ---------------------------------------------------

TYPES = 60
#: Kleene sub-patterns of 2 to 4 types, flat and of two levels.
KLEENE = (
    "(SEQ({}, {}))+",
    "(SEQ({}, {}+))+",
    "(SEQ({}, (SEQ({}, {}))+))+",
    "(SEQ({}, {}, {}, {}))+",
)
RETURNS = (
    "COUNT(*)",
    "COUNT(*), SUM({last}.x)",
    "COUNT(*), AVG({last}.x)",
    "MIN({last}.x), MAX({last}.x)",
)
# Windows are powers of a base length, which they slide by.
BASE = 5


def mixed(
    queries: int = 120, ratio: int = 6, events: int = EVENTS, *, keys: int = 500, seed: int = 1
) -> Workload:
    """As in section 8 of GLORIA: for each query with a Kleene part, `ratio` sequences. Sequences
    have one of ten sub-sequences, the others one of four Kleene sub-patterns, between starts and
    ends of their own. Aggregates are of four kinds, windows of one or five base lengths, and one in
    eight queries picks some of its last events. Types are in demand and come as often as not."""
    random, draw = Random(seed), np.random.default_rng(seed)
    names = [f"T{n}" for n in range(TYPES)]
    sequences = [random.sample(names, random.randint(3, 5)) for _ in range(10)]
    loops = [(form, random.sample(names, form.count("{}"))) for form in KLEENE]
    base = max(1, min(WINDOW, events // 2) // BASE)
    texts = []
    for n in range(queries):
        if n % (ratio + 1) == 0:
            form, inside = random.choice(loops)
            shared = form.format(*inside)
            before, after = _around(random, names, inside, 1, 2)
        else:
            inside = random.choice(sequences)
            shared = ", ".join(inside)
            before, after = _around(random, names, inside, 2, 3)
        last = after[-1]
        returns = RETURNS[random.randrange(len(RETURNS))].format(last=last)
        picked = f" AND {last}.x < {random.choice((25, 50, 75))}" if n % 8 == 7 else ""
        size = base * random.choice((1, BASE))
        texts.append(
            f"QUERY q{n} RETURN {returns} PATTERN SEQ({', '.join((*before, shared, *after))}) "
            f"WHERE [key]{picked} WITHIN {size} us SLIDE {base} us"
        )
    weights = draw.random(TYPES) + 0.25
    types = draw.choice(TYPES, events, p=weights / weights.sum())
    values = {"key": draw.integers(0, keys, events), "x": np.round(100 * draw.random(events))}
    return _made("\n".join(texts), types, names, values)


def _around(
    random: Random, names: Sequence[str], inside: Sequence[str], least: int, most: int
) -> tuple[list[str], list[str]]:
    """Types before and after a shared part, none of which is in it."""
    before, after = random.randint(least, most), random.randint(least, most)
    found = random.sample([name for name in names if name not in inside], before + after)
    return found[:before], found[before:]


# ---- pieces --------------------------------------------------------------------------------


def _made(text: str, types: Ints, names: Sequence[str], columns: Columns) -> Workload:
    events = len(types)
    table = timed(types, names, columns)
    window = min(WINDOW, events // 2)
    counts = np.bincount(types, minlength=len(names)) * (window / events)
    return Workload(text, table, dict(zip(names, counts.tolist(), strict=True)))
