"""Joins, filters and aggregates events, all on one Spark session."""

import os
from pathlib import Path

from pyarrow import csv
from pyspark.sql import functions as F

import hamlet

spark = hamlet.session()
rides = spark.read.parquet(os.path.abspath("events.parquet"))
boroughs = spark.read.csv(os.path.abspath("boroughs.csv"), header=True)

frame = (
    rides.where("kind <> 'Pool'")
    .join(F.broadcast(boroughs), "district")
    .drop("district")
    .withColumnRenamed("borough", "district")
)

results = hamlet.aggregate(Path("workload.sase").read_text(), frame, actors=1)
Path("results").mkdir(exist_ok=True)
for query, table in results.items():
    csv.write_csv(table, f"results/{query}.csv")
    print(f"{query}  {table.num_rows} rows")
print(f"{results.dead_letters.num_rows} rows were not events")
