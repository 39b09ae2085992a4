"""`docs/capacity.md`: what a cluster would need, computed from what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks._scaling import store
from benchmarks._scaling.costs import AGGREGATORS, CORES, parts_of
from benchmarks._scaling.model import Demand, Need, Parts, need
from benchmarks._scaling.store import FILE, Measured
from benchmarks._scaling.words import number, size, table, time

TEXT = Path(__file__).with_name("capacity.md")
TARGET = Demand(events=1e6, queries=1_000, shared=True, partitions=1_000_000)


def page(measured: Path) -> str:
    """`measured` is the folder with what was measured."""
    found = store.read(measured / FILE)
    parts = parts_of(found)
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
        cores=CORES,
        aggregators=AGGREGATORS,
        job_events=f"{found.one('job', f'{CORES} cores', '', AGGREGATORS).events:,}",
        answer=_answer(parts),
        by_queries=_by_queries(parts),
        memory=_memory(parts),
        traffic=_traffic(parts),
        parts=_parts(found, parts),
    )


def _answer(parts: Parts) -> str:
    shared, not_shared = (need(replace(TARGET, shared=each), parts) for each in (True, False))
    lines: tuple[tuple[str, Callable[[Need], str]], ...] = (
        ("cores for Spark's executors", lambda each: number(each.spark_cores)),
        ("cores for routers", lambda each: number(each.router_cores)),
        ("cores for aggregators", lambda each: number(each.aggregator_cores)),
        ("cores for Ray's own processes", lambda each: number(each.ray_cores)),
        ("cores in all", lambda each: number(each.cores)),
        ("of the driver's core", lambda each: f"{each.driver_share:.0%}"),
        (f"state of {TARGET.partitions:,} partitions", lambda each: size(each.state_bytes)),
        ("network, at most", lambda each: f"{size(each.network_bytes)} a second"),
        ("log of checkpoints", lambda each: f"{size(each.log_bytes)} a second"),
        ("a snapshot of all state", lambda each: size(each.snapshot_bytes)),
    )
    rows = [(name, said(shared), said(not_shared)) for name, said in lines]
    return table(("", "queries share", "they do not"), rows)


def _by_queries(parts: Parts) -> str:
    rows = []
    for queries in (1, 10, 100, 1_000):
        found = [
            need(replace(TARGET, queries=queries, shared=each), parts) for each in (True, False)
        ]
        aggregators = [number(each.aggregator_cores) for each in found]
        rows.append((f"{queries:,}", *aggregators, *(number(each.cores) for each in found)))
    names = ("queries", "aggregators, shared", "not shared", "all, shared", "not shared")
    return table(names, rows, left=0)


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
            f"{size(found.network_bytes)} a second",
            f"{size(found.log_bytes)} a second",
            f"{size(found.log_bytes * 3_600)} an hour",
        )
        for events in (1e5, 1e6, 1e7)
        for found in (need(replace(TARGET, events=events), parts),)
    ]
    names = ("events a second", "network, at most", "log of checkpoints", "log of checkpoints")
    return table(names, rows, left=0)


def _parts(found: Measured, parts: Parts) -> str:
    aggregator = parts.aggregator
    rows = [
        ("Spark's executors", "an event", time(parts.spark)),
        ("routers: check, cut by shard, send", "an event", time(parts.router)),
        ("the same by itself", "an event", time(found.one("part", "router").cpu_ns)),
        *(
            (f"an aggregator by itself, {queries:,} queries, {word}", "an event", time(cost))
            for shared, word in ((True, "shared"), (False, "not shared"))
            for queries, cost in sorted(aggregator[shared].items())
        ),
        ("an aggregator in a job over one by itself", "", f"{number(parts.envelope)} times"),
        ("Ray's own processes", "an event", time(parts.ray)),
        ("the driver, with Spark's", "an epoch", time(parts.driver_epoch)),
        ("from one empty epoch to the next (wall time)", "an epoch", time(parts.epoch_wall)),
        ("the driver: the table of a query", "a window", time(parts.driver_table)),
        ("the driver: a result row", "a row", time(parts.driver_row)),
        ("from Spark to a router", "an event", size(parts.block_bytes)),
        ("from a router to an aggregator", "an event", size(parts.portion_bytes)),
        ("in the log of a checkpoint", "an event", size(parts.log_bytes)),
        *(
            (f"state, {queries:,} queries, {word}", "a partition", size(held))
            for shared, word in ((True, "shared"), (False, "not shared"))
            for queries, held in sorted(parts.state_bytes[shared].items())
        ),
    ]
    return table(("part", "for", "measured"), rows, left=2)
