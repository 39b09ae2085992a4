"""The costs that the capacity model uses, from the measurements."""

from __future__ import annotations

import re
from statistics import mean

from benchmarks._scaling.model import Cost, Demand, Grid, Parts
from benchmarks._scaling.store import Measured, Row

CORES, AGGREGATORS = 2, 2  #: of the job whose processes are taken
SHARED = {True: "shared", False: "not shared"}
KINDS = {
    "spark": ("Spark executors",),
    "router": ("routers",),
    "aggregator": ("aggregators",),
    "ray": ("Ray", "other actors", "Spark's masters"),
    "driver": ("driver", "Spark's driver"),
}
#: The job's workload: see `_pipeline.written`.
JOB_QUERIES, JOB_WINDOWS, JOB_BURST = 50, 4, 120


def parts_of(measured: Measured) -> Parts:
    few, many = (measured.one("part", "driver", rows) for rows in ("few rows", "many rows"))
    spent = many.cpu_ns * many.events - few.cpu_ns * few.events
    table, row = few.cpu_ns, max(0.0, spent / (many.events - few.events))
    costs = {name: _process(measured, *kinds) for name, kinds in KINDS.items()}
    aggregator, driver = costs["aggregator"], costs["driver"]
    # What engine and results cost is counted by itself.
    alone = measured.one("part", "engine of the job").cpu_ns
    job = job_row(measured)
    results = JOB_QUERIES * JOB_WINDOWS * table + _of_job(measured, "job rows") * row
    states = _sizes(measured, "state bytes")
    most = max(states[True])
    return Parts(
        spark=costs["spark"],
        router=costs["router"],
        aggregator=Cost(max(0.0, aggregator.event - alone), aggregator.epoch),
        ray=costs["ray"],
        driver=Cost(max(0.0, driver.event - results / job.events), driver.epoch),
        engine={shared: _grid(measured, name) for shared, name in SHARED.items()},
        window={
            shared: {int(r.at): r.cpu_ns for r in measured.of("part", "window", name)}
            for shared, name in SHARED.items()
        },
        epoch_wall=measured.one("job", f"epochs, {CORES} cores").ns,
        driver_table=table,
        driver_row=row,
        block_bytes=measured.value("block bytes"),
        portion_bytes=measured.value("portion bytes"),
        log_bytes=measured.value("log bytes"),
        state_bytes=states,
        state_by_windows={
            int(r.at): r.value or 0.0 for r in measured.of("size", "state bytes", "by windows")
        },
        snapshot_over_state=_sizes(measured, "snapshot bytes")[True][most] / states[True][most],
    )


def job_row(measured: Measured) -> Row:
    return measured.one("job", f"{CORES} cores", "", AGGREGATORS)


def job_demand(measured: Measured) -> Demand:
    """The measured job, as if all of it came in a second."""
    events = job_row(measured).events
    return Demand(
        events=events,
        queries=JOB_QUERIES,
        shared=True,
        partitions=max(1, events // 1_000),
        burst=JOB_BURST,
        groups=_of_job(measured, "job rows") / (JOB_QUERIES * JOB_WINDOWS),
        slide=1 / JOB_WINDOWS,
        epoch=1 / _of_job(measured, "job epochs"),
        load=1.0,
    )


def mean_ns(row: Row) -> float:
    """Means of parts add up to the mean of the whole; medians do not."""
    return mean(row.cpu) / row.events * 1e9


def split(large: float, small: float, epochs: float, events: float, each: float) -> Cost:
    """From CPU time (ns) of a job with so many epochs and events, and that of an epoch with `each`
    events in it: what an event costs and what an epoch does."""
    event = max(0.0, (large - epochs * small) / (events - epochs * each))
    return Cost(event, max(0.0, small - each * event))


def _process(measured: Measured, *kinds: str) -> Cost:
    events = job_row(measured).events

    def spent(name: str, at: float | None) -> float:
        return sum(mean_ns(measured.one("job", name, kind, at)) for kind in kinds)

    return split(
        spent(f"{CORES} cores", AGGREGATORS) * events,
        spent(f"epochs, {CORES} cores", None),
        _of_job(measured, "job epochs"),
        events,
        measured.value("epoch events", f"{CORES} cores"),
    )


def _of_job(measured: Measured, name: str) -> float:
    return measured.value(name, f"{CORES} cores", AGGREGATORS)


def _grid(measured: Measured, shared: str) -> Grid:
    """See `parts.grid`."""
    found: dict[int, dict[int, dict[int, float]]] = {}
    for variant in measured.variants("part", "engine"):
        if name := re.fullmatch(rf"{shared}, (\d+) keys, bursts of (\d+)", variant):
            keys, burst = map(int, name.groups())
            costs = {int(row.at): row.cpu_ns for row in measured.of("part", "engine", variant)}
            found.setdefault(burst, {})[keys] = costs
    return found


def _sizes(measured: Measured, name: str) -> dict[bool, dict[int, float]]:
    return {
        shared: {int(row.at): row.value or 0.0 for row in measured.of("size", name, variant)}
        for shared, variant in SHARED.items()
    }
