"""Section 8 and appendix D of COGRA: patients, stocks and trips, one query at a time.

The queries are q2 to q4 of the paper, without predicates on adjacent events unless these are what
varies, since A-Seq does not know them. Each type stands in a pattern once: the activities of q4,
which it tells apart by their heart rates, are of three types here.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks._papers.made import Made, drawn, replaced, retyped, text
from benchmarks._streams import timed

ACTIVITIES = ("Slow", "Rest", "Fast", "Move")


def activity(
    events: int = 30_000,
    people: int = 2_000,
    semantics: str = "skip-till-any-match",
    burst: int = 3,
    windows: int = 1,
    ended: bool = True,
    seed: int = 1,
) -> Made:
    """q4: from a slow heart by way of passive activities to a fast one. Not `ended`: without the
    last, so that every part of a trend is one, too, and there are as many as events."""
    table = drawn("patients", windows * events, seed=seed, groups=people, burst=burst)
    rate, active = table["rate"].to_numpy(), text(table, "kind") == "active"
    code = np.select([active, rate < 60, rate > 100], [3, 0, 2], default=1)
    table = retyped(table, code, ACTIVITIES).select(["time", "type", "patient"])
    last = ", Fast" if ended else ""
    query = (
        f"RETURN patient, COUNT(*) PATTERN SEQ(Slow, Rest+{last}) SEMANTICS {semantics} "
        f"GROUP-BY patient WITHIN {events} us"
    )
    return Made(query, table, events)


def stock(
    events: int = 50_000, companies: int = 3_000, windows: int = 1, sectors: int = 11, seed: int = 1
) -> Made:
    """q3: all trends of transactions of a company, added up by sector."""
    draw = np.random.default_rng(seed)
    size = windows * events
    company = draw.integers(0, companies, size)
    columns = {"company": company, "sector": company % sectors}
    query = (
        "RETURN sector, COUNT(*) PATTERN Stock+ WHERE [company, sector] GROUP-BY sector "
        f"WITHIN {events} us"
    )
    return Made(query, timed(np.zeros(size, np.int64), ["Stock"], columns), events)


def trips(
    events: int = 100_000,
    semantics: str = "skip-till-next-match",
    groups: int = 250,
    burst: int = 10,
    windows: int = 1,
    ended: bool = True,
    seed: int = 1,
) -> Made:
    """q2: trips and their speed, by district. Not `ended`: from the pickup on, as far as it is
    known, so that every part of a trip is a trend."""
    table = drawn("ridesharing", windows * events, seed=seed, groups=groups, burst=burst)
    last = ", Dropoff" if ended else ""
    query = (
        f"RETURN district, COUNT(*), AVG(Travel.speed) PATTERN SEQ(Pickup, Travel+{last}) "
        f"SEMANTICS {semantics} WHERE [driver, rider, district] GROUP-BY district "
        f"WITHIN {events} us"
    )
    columns = ["time", "type", "driver", "rider", "district", "speed"]
    return Made(query, table.select(columns), events)


def grouped(
    events: int = 50_000, groups: int = 30, matched: int = 600, windows: int = 1, seed: int = 1
) -> Made:
    """Trips in 5 to 30 groups. Of the events of a window, `matched` are of the query's types: as
    many as leave a two-step system a chance while groups are many."""
    draw = np.random.default_rng(seed)
    size = windows * events
    names = ["Pickup", "Travel", "Dropoff", "Other"]
    few = matched / events
    odds = [0.2 * few, 0.6 * few, 0.2 * few, 1 - few]
    columns = {
        "driver": draw.integers(0, groups, size),
        "speed": np.round(35 * draw.random(size), 1),
    }
    query = (
        "RETURN driver, COUNT(*), AVG(Travel.speed) PATTERN SEQ(Pickup, Travel+, Dropoff) "
        f"GROUP-BY driver WITHIN {events} us"
    )
    return Made(query, timed(draw.choice(4, size, p=odds), names, columns), events)


def selective(
    events: int = 50_000, percent: int = 50, companies: int = 3_000, windows: int = 1, seed: int = 1
) -> Made:
    """As `stock`, where a transaction follows another only if that one's bid is below its ask: true
    of `percent` of all pairs, since both are drawn evenly and one is moved by as much as that
    takes."""
    made = stock(events, companies, windows, seed=seed)
    draw = np.random.default_rng(seed + 1)
    size = made.table.num_rows
    table = made.table.append_column("bid", pa.array(draw.random(size)))
    table = table.append_column("ask", pa.array(draw.random(size)))
    moved = table["ask"].to_numpy() + moved_by(percent / 100)
    table = replaced(table, "ask", pa.array(moved))
    condition = "WHERE [company, sector] AND Stock.bid < NEXT(Stock).ask"
    query = made.workload.replace("WHERE [company, sector]", condition)
    return Made(query, table, events)


def moved_by(selectivity: float) -> float:
    """d, such that U < V + d with this probability, for U and V even on [0, 1]."""
    if selectivity < 0.5:
        return float(np.sqrt(2 * selectivity)) - 1
    return 1 - float(np.sqrt(2 * (1 - selectivity)))
