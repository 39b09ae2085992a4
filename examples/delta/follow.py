"""Follows a Delta table: each call takes the rows that were appended since the last one."""

import os
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

import hamlet

WORKLOAD = Path("workload.sase").read_text()
TABLE, CHECKPOINT = os.path.abspath("rides"), os.path.abspath("state")
EARLY = "time < '2024-01-01T00:00:50Z'"  # the stream lasts two minutes

spark = hamlet.session(formats=["delta"])
events = spark.read.parquet(os.path.abspath("events.parquet"))
found = []


def each(epoch, tables):
    """Gets the rows of windows that have closed."""
    found.append(tables["trips"])
    print(f"epoch {epoch}: {tables['trips'].num_rows} rows")


def follow():
    """Takes what the table has by now. Windows that are still open wait in the checkpoint."""
    job = hamlet.stream(
        WORKLOAD,
        spark.readStream.format("delta").load(TABLE),
        checkpoint=CHECKPOINT,
        each=each,
        trigger={"availableNow": True},
        actors=1,
    )
    job.wait()


for part in (events.where(EARLY), events.where(f"NOT {EARLY}")):
    part.write.format("delta").mode("append").save(TABLE)
    follow()

Path("results").mkdir(exist_ok=True)
csv.write_csv(pa.concat_tables(found), "results/trips.csv")
