"""Section 8 of GLORIA, after the authors' published workloads (github.com/LeiMa0324/Gloria).

There, the types of a data set are a few that are frequent, in one order, and many rare ones.
Sequences are a rare type, the first frequent one, three consecutive frequent ones from one of a few
places on, and a rare one. Kleene queries repeat the first frequent type with the consecutive
ones, nested or not, before the frequent type that comes next and a rare one. All have the same
condition on the first frequent type, count or add up or take the average of its values, and
have windows of 5, 10, 15 or 20 minutes that slide by 5.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks._papers.made import Made, workload
from benchmarks._streams import bursts, interleaved, timed


class Data(NamedTuple):
    """What stands for a data set: how many types it has, how many of them are frequent, how uneven
    their frequencies are (types come in the order of it, as 1 / rank ** skew), from how many
    places on sequences begin, and its partitions."""

    types: int
    frequent: int
    skew: float
    places: int
    groups: int
    seed: int


DATA = {
    "bus": Data(types=400, frequent=30, skew=0.8, places=4, groups=20, seed=1),
    "taxi": Data(types=217, frequent=30, skew=0.6, places=6, groups=10, seed=2),
    "stock": Data(types=600, frequent=30, skew=0.4, places=8, groups=15, seed=3),
}
PANE_MINUTES, PANES = 5, 4
RETURNS = ("COUNT(*)", "COUNT(*), SUM(F0.x)", "COUNT(*), AVG(F0.x)")


def mixed(
    data: str = "bus",
    queries: int = 120,
    kleene: float = 100 / 7,
    length: int = 10,
    layers: int = 2,
    rate: int = 1_000,
    minutes: int = 40,
    types: int | None = None,
    groups: int | None = None,
    seed: int = 1,
) -> Made:
    """Of the queries, `kleene` percent repeat a part of `length` types in as many `layers`, spread
    over the workload: 100 / 7 is one to six sequences. `rate` is events a minute. With fewer
    `types` and `groups` than the data set has, a short stream has trends, too."""
    about = DATA[data]
    about = about._replace(types=types or about.types, groups=groups or about.groups)
    random = Random(1_000 * about.seed + seed)
    rare = [f"R{n}" for n in range(about.types - about.frequent)]
    places = [1 + place for place in range(about.places)]
    texts, clauses = [], []
    for n, repeats in enumerate(spread(queries, kleene)):
        place = random.choice(places)
        if repeats:
            parts = [_loop(place, length, layers), f"F{place + length - 1}", random.choice(rare)]
        else:
            first, last = random.sample(rare, 2)
            parts = [first, "F0", *(f"F{place + step}" for step in range(3)), last]
        texts.append(f"RETURN {RETURNS[n % 3]} PATTERN SEQ({', '.join(parts)})")
        within = random.randint(1, PANES) * PANE_MINUTES * rate
        clauses.append(
            f"WHERE [line] AND F0.congestion = 0 WITHIN {within} us SLIDE {PANE_MINUTES * rate} us"
        )
    return Made(workload(texts, clauses), _recorded(about, rate * minutes), PANE_MINUTES * rate)


def spread(queries: int, percent: float) -> list[bool]:
    """Which of the queries are of a kind that makes up `percent` of them, evenly spread."""
    count = round(queries * percent / 100)
    return [(n + 1) * count // queries > n * count // queries for n in range(queries)]


def _loop(place: int, length: int, layers: int) -> str:
    """F0 and `length - 1` consecutive types, as (F0, (a, (b, c)+, d)+, e)+ for three layers."""
    types = ["F0", *(f"F{place + step}" for step in range(length - 1))]
    layers = max(1, min(layers, (length - 1) // 2 if length > 2 else 1))
    outer = layers - 1
    inner = ", ".join(types[outer : len(types) - outer])
    found = f"SEQ({inner})+"
    for depth in reversed(range(outer)):
        found = f"SEQ({types[depth]}, {found}, {types[-1 - depth]})+"
    return found


def _recorded(about: Data, events: int) -> pa.Table:
    draw = np.random.default_rng(about.seed)
    weights = 1 / np.arange(1, about.types + 1) ** about.skew
    names = [f"F{n}" for n in range(about.frequent)]
    names += [f"R{n}" for n in range(about.types - about.frequent)]
    columns = {
        "line": draw.integers(0, about.groups, events),
        "congestion": (draw.random(events) < 0.1).astype(np.int64),
        "x": np.round(100 * draw.random(events)),
    }
    types = draw.choice(about.types, events, p=weights / weights.sum())
    return timed(types, names, columns)


# ---- against HAMLET ------------------------------------------------------------------------

LIMITS = (30, 100)


def bursty(
    queries: int = 100,
    percent: int = 100,
    burst: int = 100,
    rate: int = 2_000,
    minutes: int = 20,
    levels: int = 5,
    hot: int = 12,
    cold: int = 80,
    seed: int = 1,
) -> Made:
    """Bursts of one hot type, with eight other events in between. A simple query is SEQ(H+, P, C)
    for a hot H, the one P and a cold C, with the same limit on the volume of H for all of them;
    a complex one has six cold types at its end, and one of two limits. `percent` are complex."""
    random = Random(seed)
    others = [f"C{n}" for n in range(cold)]
    texts, clauses = [], []
    for n, complex_ in enumerate(spread(queries, percent)):
        first = f"H{random.randrange(hot)}"
        ends = random.sample(others, 6 if complex_ else 1)
        limit = random.choice(LIMITS) if complex_ else LIMITS[0]
        returns = RETURNS[n % 3].replace("F0", first)
        texts.append(f"RETURN level, {returns} PATTERN SEQ({first}+, P, {', '.join(ends)})")
        within = random.randint(1, PANES) * PANE_MINUTES * rate
        clauses.append(
            f"WHERE {first}.volume > {limit} GROUP-BY level "
            f"WITHIN {within} us SLIDE {PANE_MINUTES * rate} us"
        )
    table = _traded(rate * minutes, burst, levels, hot, cold, seed)
    return Made(workload(texts, clauses), table, PANE_MINUTES * rate)


BETWEEN = 8


def _traded(events: int, burst: int, levels: int, hot: int, cold: int, seed: int) -> pa.Table:
    draw = np.random.default_rng(seed)
    level, place = interleaved(draw, np.arange(levels), events)
    inside, others = bursts(place, burst, BETWEEN)
    turn = others // BETWEEN
    burst_of = draw.integers(0, hot, (levels, int(turn.max()) + 2))[level, turn]
    between = hot + np.where(draw.random(events) < 0.25, 0, draw.integers(1, cold + 1, events))
    names = [*(f"H{n}" for n in range(hot)), "P", *(f"C{n}" for n in range(cold))]
    columns = {
        "level": level,
        "volume": draw.integers(0, 200, events),
        "x": np.round(100 * draw.random(events)),
    }
    return timed(np.where(inside, burst_of, between), names, columns)
