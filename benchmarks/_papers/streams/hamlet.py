"""Section 6 of HAMLET: ridesharing, taxis, power plugs and stocks.

In all but the last, queries have different patterns around the same Kleene sub-pattern, and the
same window, groups, predicates and aggregates (the paper's first workload). In the last they differ
in all of these (its second workload).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from benchmarks._papers.made import Made, drawn, is_type, replaced, retyped, text, workload
from benchmarks._streams import Floats, Ints, timed

STARTS = ("Request", "Accept", "Quote", "Pickup", "Arrive")
ENDS = ("Dropoff", "Pay", "Cancel", "Stop", "Toll")


def ridesharing(
    events: int = 10_000,
    queries: int = 10,
    burst: int = 4,
    groups: int = 1_000,
    windows: int = 2,
    seed: int = 1,
) -> Made:
    """Trips of 20 types; all queries share `Travel+`, from one of five starts to one of five ends.
    A group is a rider with a driver, so that a window has `events / groups` of its events: few,
    or there are more trends than a two-step system lives to see."""
    table = drawn("ridesharing", windows * events, seed=seed, burst=burst, groups=groups)
    pairs = _pairs(STARTS, ENDS, queries)
    texts = [
        f"RETURN district, COUNT(*), SUM(Travel.duration) PATTERN SEQ({start}, Travel+, {end})"
        for start, end in pairs
    ]
    clauses = f"WHERE [driver, rider] GROUP-BY district WITHIN {events} us"
    columns = ["time", "type", "driver", "rider", "district", "duration"]
    return Made(workload(texts, clauses), table.select(columns), events)


def taxi(
    rate: int = 200,
    queries: int = 50,
    minutes: int = 30,
    burst: int = 20,
    vendors: int = 2,
    windows: int = 2,
    seed: int = 1,
) -> Made:
    """Pickups and drop-offs by zone, each a type, and the travel between them, which is shared. A
    partition is a vendor: long enough that work which is quadratic in it shows."""
    events = rate * minutes
    table = drawn("taxi", windows * events, seed=seed, burst=burst, groups=vendors)
    zones = sorted(set(text(table, "pickup_location")) | set(text(table, "dropoff_location")))
    starts = [f"Pickup{_word(zone)}" for zone in zones]
    ends = [f"Dropoff{_word(zone)}" for zone in zones]
    code = np.zeros(table.num_rows, np.int64)
    pickup, dropoff = is_type(table, "Pickup"), is_type(table, "Dropoff")
    code[pickup] = 1 + np.searchsorted(zones, text(table, "pickup_location")[pickup].astype(str))
    there = np.searchsorted(zones, text(table, "dropoff_location")[dropoff].astype(str))
    code[dropoff] = 1 + len(zones) + there
    table = retyped(table, code, ["Travel", *starts, *ends])
    texts = [
        f"RETURN COUNT(*), SUM(Travel.price) PATTERN SEQ({start}, Travel+, {end})"
        for start, end in _pairs(starts, ends, queries)
    ]
    made = workload(texts, f"WHERE [rider] WITHIN {events} us")
    return Made(made, table.select(["time", "type", "rider", "price"]), events)


def smarthome(
    rate: int = 20_000,
    queries: int = 50,
    minutes: int = 1,
    burst: int = 20,
    houses: int = 40,
    plugs: int = 10,
    windows: int = 2,
    seed: int = 1,
) -> Made:
    """Measurements of load, which are shared, between those of work; the latter are of a type for
    each of the plugs of a house. A partition is a house."""
    events = rate * minutes
    table = drawn("smarthome", windows * events, seed=seed, burst=burst, groups=houses * plugs)
    plug = table["plug"].to_numpy() - 1
    code = np.where(is_type(table, "Load"), 0, 1 + plug // houses)
    names = [f"Work{number}" for number in range(plugs)]
    table = retyped(table, code, ["Load", *names])
    table = replaced(table, "house", pa.array(plug % houses))
    texts = [
        f"RETURN house, COUNT(*), SUM(Load.value) PATTERN SEQ({start}, Load+, {end})"
        for start, end in _pairs(names, names, queries)
    ]
    made = workload(texts, f"GROUP-BY house WITHIN {events} us")
    return Made(made, table.select(["time", "type", "house", "value"]), events)


# ---- the diverse workload ------------------------------------------------------------------

KLEENE = ("Rise", "Fall", "Even")
OPENINGS = 5
LOWEST, HIGHEST = 100, 1_000
RETURNS = ("COUNT(*)", "COUNT(*), AVG({0}.x)", "MAX({0}.x)", "COUNT(*), SUM({0}.x)", "MIN({0}.x)")
MINUTES = (5, 10, 20)
GROUPS = ("", "GROUP-BY company", "GROUP-BY sector")


def stock(
    rate: int = 3_000,
    queries: int = 50,
    burst: int = 120,
    differing: float = 0.1,
    companies: int = 20,
    minutes: int = 20,
    seed: int = 1,
) -> Made:
    """Bursts of `burst` events on average, in each company. Queries have one to three Kleene parts
    after a start, windows of 5, 10 and 20 minutes, aggregates of five kinds and groups of three,
    and a condition each on one of the Kleene types: `x` below a limit of its own. In most bursts
    all x lie below all limits, so that queries agree on every event; in `differing` of them x is
    spread, and most events are picked by some queries and not by others."""
    draw = np.random.default_rng(seed)
    size = rate * minutes
    company = draw.integers(0, companies, size)
    code, x = np.empty(size, np.int64), np.empty(size)
    for each in range(companies):
        mine = np.flatnonzero(company == each)
        code[mine], x[mine] = _trading(draw, len(mine), burst, differing)
    names = [*KLEENE, *(f"Open{n}" for n in range(OPENINGS))]
    columns = {"company": company, "sector": company % 5, "x": x}
    limits = np.linspace(LOWEST, HIGHEST, queries, endpoint=False).astype(int)
    texts, clauses = [], []
    for n, limit in enumerate(limits):
        kinds = [KLEENE[(n + step) % 3] for step in range(1 + n % 3)]
        last = kinds[-1]
        group = GROUPS[n % 3]
        shown = [name for name in ("company", "sector") if name in group]
        returns = ", ".join([*shown, RETURNS[n % 5].format(last)])
        parts = ", ".join([f"Open{n % OPENINGS}", *(f"{kind}+" for kind in kinds)])
        texts.append(f"RETURN {returns} PATTERN SEQ({parts})")
        within = MINUTES[n // 3 % 3] * rate
        where = f"WHERE [company, sector] AND {last}.x < {limit}"
        clauses.append(f"{where} {group} WITHIN {within} us")
    return Made(workload(texts, clauses), timed(code, names, columns), MINUTES[0] * rate)


def _trading(
    draw: np.random.Generator, size: int, burst: int, differing: float
) -> tuple[Ints, Floats]:
    """Of one company: an opening event, a burst of one Kleene type, and so on. Lengths are between
    half the mean and one and a half times that."""
    code, x = np.empty(size, np.int64), np.empty(size)
    at = 0
    while at < size:
        code[at], x[at] = len(KLEENE) + draw.integers(OPENINGS), 0
        length = int(draw.integers((burst + 1) // 2, burst + burst // 2 + 1))
        inside = slice(at + 1, at + 1 + length)
        code[inside] = draw.integers(len(KLEENE))
        spread = HIGHEST if draw.random() < differing else LOWEST
        x[inside] = np.floor(spread * draw.random(len(x[inside])))
        at += 1 + length
    return code, x


# ---- pieces --------------------------------------------------------------------------------


def _pairs(starts: Sequence[str], ends: Sequence[str], count: int) -> list[tuple[str, str]]:
    """Different pairs of different types, spread over both; from the first again if there are too
    few of them."""
    pairs = [(start, end) for start, end in product(starts, ends) if start != end]
    step = len(ends) + 1
    while np.gcd(step, len(pairs)) > 1:
        step += 1
    return [pairs[n * step % len(pairs)] for n in range(count)]


def _word(zone: str) -> str:
    return zone.replace(" ", "")
