"""Follows a Delta table: each run takes the rows that were appended since the last one."""

import csv
import os
from pathlib import Path

import hamlet

WORKLOAD = Path("workload.sase").read_text()
TABLE, CHECKPOINT = os.path.abspath("rides"), os.path.abspath("state")
EARLY = "time < '2024-01-01T00:01:00Z'"  # the stream lasts two minutes

spark = hamlet.session(formats=["delta"])
events = spark.read.parquet(os.path.abspath("events.parquet"))
found = []


def each(epoch, tables):
    """Gets the rows of the windows that have closed."""
    found.extend(tables["trips"].to_pylist())


def follow():
    """Takes what the table has by now. Windows that are still open wait in the checkpoint."""
    rides = spark.readStream.format("delta").load(TABLE)
    trigger = {"availableNow": True}
    with hamlet.stream(
        WORKLOAD, rides, checkpoint=CHECKPOINT, each=each, trigger=trigger, actors=1
    ) as job:
        job.wait()
    print(f"{len(found)} rows so far")


for part in (events.where(EARLY), events.where(f"NOT {EARLY}")):
    part.write.format("delta").mode("append").save(TABLE)
    follow()

Path("results").mkdir(exist_ok=True)
with open("results/trips.csv", "w", newline="") as file:
    rows = csv.DictWriter(file, found[0])
    rows.writeheader()
    rows.writerows(found)
hamlet.stop_session()
