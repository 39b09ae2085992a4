"""`docs/capacity.md`: the size of a cluster, computed from the measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks._scaling import store
from benchmarks._scaling.costs import (
    AGGREGATORS,
    CORES,
    SHARED,
    job_demand,
    job_row,
    mean_ns,
    parts_of,
)
from benchmarks._scaling.model import Cost, Demand, Need, Parts, need
from benchmarks._scaling.speedup import jobs
from benchmarks._scaling.store import FILE, Measured
from benchmarks._scaling.words import number, size, table, time

TEXT = Path(__file__).with_name("capacity.md")
TARGET = Demand(events=1e6, queries=1_000, shared=True, partitions=1_000_000, burst=1)
#: The same events and queries, from the case that suits sharing best to the worst one.
DEMANDS = {
    "few partitions, long bursts": replace(TARGET, partitions=1_000, burst=120),
    "few partitions, short bursts": replace(TARGET, partitions=1_000, burst=10),
    "few partitions, no bursts": replace(TARGET, partitions=1_000, burst=1),
    "more partitions, long bursts": replace(TARGET, partitions=10_000, burst=120),
    "more partitions, no bursts": replace(TARGET, partitions=10_000, burst=1),
    "a million partitions": TARGET,
}
TOP = "few partitions, long bursts"


def page(measured: Path) -> str:
    """`measured` is the folder of the measurements."""
    found = store.read(measured / FILE)
    parts = parts_of(found)
    job = job_demand(found)
    by_burst = parts.engine[True]
    return TEXT.read_text(encoding="utf-8").format(
        machine=found.about["machine"],
        quick=" --quick" if found.quick else "",
        repeats=found.about["repeats"],
        events=f"{TARGET.events:,.0f}",
        queries=f"{TARGET.queries:,}",
        epoch=f"{TARGET.epoch:g}",
        groups=TARGET.groups,
        slide=f"{TARGET.slide:g}",
        load=f"{TARGET.load:.0%}",
        partitions=f"{TARGET.partitions:,}",
        most_keys=f"{max(by_burst[min(by_burst)]):,}",
        by_windows=f"{found.value('state bytes', 'queries by windows'):,.0f}",
        cores=CORES,
        aggregators=AGGREGATORS,
        job_events=f"{job.events:,.0f}",
        job_epochs=f"{1 / job.epoch:,.0f}",
        demands=_demands(parts),
        answer=_answer(parts),
        by_queries=_by_queries(parts),
        memory=_memory(parts),
        traffic=_traffic(parts),
        jobs=_jobs(found, parts),
        parts=_parts(found, parts),
        engines=_engines(parts),
    )


def _demands(parts: Parts) -> str:
    rows = []
    for name, demand in DEMANDS.items():
        shared, alone = (need(replace(demand, shared=each), parts) for each in (True, False))
        beyond = ", ".join(shared.beyond) or "no"
        cells = (number(shared.cores), number(alone.cores), size(shared.state_bytes), beyond)
        rows.append((name, f"{demand.partitions:,}", f"{demand.met:,.0f}", *cells))
    names = ("", "partitions", "in a row", "cores, shared", "not shared", "state", "extrapolates")
    return table(names, rows)


def _answer(parts: Parts) -> str:
    ends = (DEMANDS[TOP], TARGET)
    found = [
        need(replace(demand, shared=shared), parts) for demand in ends for shared in (True, False)
    ]
    lines: tuple[tuple[str, Callable[[Need], str]], ...] = (
        ("cores for Spark's executors", lambda each: number(each.spark_cores)),
        ("cores for routers", lambda each: number(each.router_cores)),
        ("cores for aggregators", lambda each: number(each.aggregator_cores)),
        ("cores for Ray's own processes", lambda each: number(each.ray_cores)),
        ("cores in total", lambda each: number(each.cores)),
        ("fraction of the driver's core", lambda each: f"{each.driver_share:.0%}"),
        ("state of all partitions", lambda each: size(each.state_bytes)),
        ("network, at most", lambda each: f"{size(each.network_bytes)} per second"),
        ("checkpoint log", lambda each: f"{size(each.log_bytes)} per second"),
        ("a snapshot of all state", lambda each: size(each.snapshot_bytes)),
    )
    rows = [(name, *map(said, found)) for name, said in lines]
    names = [
        f"{each}, {word}" for each in (TOP, "a million partitions") for word in SHARED.values()
    ]
    return table(("", *names), rows)


def _by_queries(parts: Parts) -> str:
    rows = []
    for queries in (1, 10, 100, 1_000):
        found = [
            need(replace(demand, queries=queries, shared=shared), parts)
            for demand in (DEMANDS[TOP], TARGET)
            for shared in (True, False)
        ]
        rows.append((f"{queries:,}", *(number(each.cores) for each in found)))
    names = [
        f"{each}, {word}" for each in (TOP, "a million partitions") for word in SHARED.values()
    ]
    return table(("queries", *names), rows, left=0)


def _memory(parts: Parts) -> str:
    windows = (1, 10, 60)
    rows = [
        (
            f"{partitions:,}",
            *(
                size(need(replace(TARGET, partitions=partitions, windows=each), parts).state_bytes)
                for each in windows
            ),
        )
        for partitions in (10_000, 100_000, 1_000_000)
    ]
    names = ("partitions", *(f"{each} open window{'s' * (each > 1)}" for each in windows))
    return table(names, rows, left=0)


def _traffic(parts: Parts) -> str:
    rows = [
        (
            f"{events:,.0f}",
            f"{size(found.network_bytes)} per second",
            f"{size(found.log_bytes)} per second",
            f"{size(found.log_bytes * 3_600)} per hour",
        )
        for events in (1e5, 1e6, 1e7)
        for found in (need(replace(TARGET, events=events), parts),)
    ]
    names = ("events per second", "network, at most", "checkpoint log", "checkpoint log")
    return table(names, rows, left=0)


def _jobs(found: Measured, parts: Parts) -> str:
    """CPU time per event of all processes: predicted and measured."""
    wanted = need(job_demand(found), parts)
    model = (wanted.cores + wanted.driver_share) / job_row(found).events * 1e9
    rows = []
    for cores, by_aggregators in jobs(found).items():
        for row in by_aggregators:
            taken = (cores, row.at) == (CORES, AGGREGATORS)
            name = "its own job" if taken else "another"
            ratio = f"{model / mean_ns(row):.2f}"
            cells = (f"{cores}", f"{row.at:,.0f}", time(mean_ns(row)), time(model), ratio)
            rows.append((name, *cells))
    names = ("job", "cores", "aggregators", "measured", "model", "model over measured")
    return table(names, rows)


def _parts(found: Measured, parts: Parts) -> str:
    processes: dict[str, Cost] = {
        "Spark's executors": parts.spark,
        "routers: check, split by shard, send": parts.router,
        "aggregators, without the engine: calls, copies, logs": parts.aggregator,
        "Ray's own processes": parts.ray,
        "the driver, with Spark's driver, without results": parts.driver,
    }
    windows = parts.state_by_windows
    rows = [
        *((name, "per event", time(cost.event)) for name, cost in processes.items()),
        *((name, "per epoch", time(cost.epoch)) for name, cost in processes.items()),
        ("from one empty epoch to the next (wall time)", "per epoch", time(parts.epoch_wall)),
        ("the driver: the table of a query", "per window", time(parts.driver_table)),
        ("the driver: a result row", "per row", time(parts.driver_row)),
        *(
            (f"the engine: open and close, {_queries(queries)}, {word}", PLACE, time(cost))
            for shared, word in SHARED.items()
            for queries, cost in sorted(parts.window[shared].items())
        ),
        ("from Spark to a router", "per event", size(parts.block_bytes)),
        ("from a router to an aggregator", "per event", size(parts.portion_bytes)),
        ("in the checkpoint log", "per event", size(parts.log_bytes)),
        *(
            (f"state, {_queries(queries)}, {word}", "per partition", size(held))
            for shared, word in SHARED.items()
            for queries, held in sorted(parts.state_bytes[shared].items())
        ),
        *(
            (f"state with {each} open windows over that with one", "", _times(held / windows[1]))
            for each, held in sorted(windows.items())
            if each > 1
        ),
        (
            f"a snapshot over the state, {_queries(max(parts.state_bytes[True]))}",
            "",
            _times(parts.snapshot_over_state),
        ),
    ]
    beside = [
        ("not used: a router alone", "per event", time(found.one("part", "router").cpu_ns)),
        (
            "not used: an aggregator alone, with the job's workload",
            "per event",
            time(found.one("part", "aggregator", "job").cpu_ns),
        ),
    ]
    return table(("part", "unit", "measured"), [*rows, *beside], left=2)


PLACE = "per window and partition"


def _engines(parts: Parts) -> str:
    """Every measured point of the grid."""
    bursts = sorted(parts.engine[True])
    rows = [
        (
            _queries(queries),
            f"{keys:,}",
            word,
            *(number(grid[each][keys][queries]) for each in bursts),
        )
        for shared, word in SHARED.items()
        for grid in (parts.engine[shared],)
        for keys in sorted(grid[bursts[0]])
        for queries in sorted(grid[bursts[0]][keys])
    ]
    names = ("", "partitions", "", *(f"bursts of {each}" for each in bursts))
    return table(names, rows, left=1)


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def _times(value: float) -> str:
    return f"{number(value)} times"
