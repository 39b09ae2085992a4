"""Section VIII of SHARON: vehicles on their routes, and customers and what they buy."""

from __future__ import annotations

import numpy as np

from benchmarks import _workloads as workloads
from benchmarks._papers.made import Made, workload
from benchmarks._streams import timed
from benchmarks.planner import routes

SLIDES = workloads.SLIDES


def vehicles(
    events: int = 200_000,
    queries: int = 20,
    length: int = 10,
    vehicles: int = 100,
    windows: int = 2,
    sliding: bool = True,
    seed: int = 1,
) -> Made:
    """Position reports along routes, as in figure 1 of the paper: for taxis and for Linear Road. A
    window of `events` reports slides by a tenth, as ten minutes by one."""
    text, table, _ = workloads.sharon(
        queries,
        length,
        windows * events,
        sliding=sliding,
        vehicles=vehicles,
        window=events,
        seed=seed,
    )
    return Made(text, table, events // SLIDES if sliding else events)


def purchases(
    events: int = 200_000,
    queries: int = 20,
    length: int = 10,
    items: int = 50,
    customers: int = 20,
    lists: int = 4,
    windows: int = 2,
    sliding: bool = True,
    seed: int = 1,
) -> Made:
    """Items bought at random, as in the paper: 50 of them, by 20 customers. Queries ask for
    stretches of a few shopping lists, so that they have parts in common."""
    draw = np.random.default_rng(seed)
    wanted = routes(queries, seed, length=length, types=items, among=lists, route=items)
    size = windows * events
    columns = {
        "customer": draw.integers(0, customers, size),
        "price": np.round(100 * draw.random(size)),
    }
    table = timed(draw.integers(0, items, size), [f"S{n}" for n in range(items)], columns)
    slide = f" SLIDE {events // SLIDES} us" if sliding else ""
    within = events // SLIDES * SLIDES if sliding else events
    texts = [f"RETURN COUNT(*) PATTERN SEQ({', '.join(each)})" for each in wanted.values()]
    made = workload(texts, f"WHERE [customer] WITHIN {within} us{slide}")
    return Made(made, table, events // SLIDES if sliding else events)
