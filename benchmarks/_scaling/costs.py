"""The costs that the model takes, from what was measured."""

from __future__ import annotations

from benchmarks._scaling.model import Parts
from benchmarks._scaling.store import Measured

CORES, AGGREGATORS = 2, 2  #: of the job whose processes are taken
SHARED = {True: "shared", False: "not shared"}


def parts_of(measured: Measured) -> Parts:
    def process(*kinds: str) -> float:
        name = f"{CORES} cores"
        return sum(measured.one("job", name, kind, AGGREGATORS).cpu_ns for kind in kinds)

    def epoch(*kinds: str) -> float:
        name = f"epochs, {CORES} cores"
        return sum(measured.one("job", name, kind).cpu_ns for kind in kinds)

    alone = measured.one("part", "aggregator", "job").cpu_ns
    few, many = (measured.one("part", "driver", rows) for rows in ("few rows", "many rows"))
    spent = many.cpu_ns * many.events - few.cpu_ns * few.events
    windows = {int(row.at): row.value for row in measured.of("size", "state bytes", "by windows")}
    states = _sizes(measured, "state bytes")
    most = max(states[True])
    return Parts(
        spark=process("Spark executors"),
        router=process("routers"),
        aggregator={
            shared: {int(r.at): r.cpu_ns for r in measured.of("part", "aggregator", name)}
            for shared, name in SHARED.items()
        },
        envelope=max(1.0, process("aggregators") / alone),
        ray=process("Ray", "other actors", "Spark's masters"),
        driver_epoch=epoch("driver", "Spark's driver"),
        epoch_wall=measured.one("job", f"epochs, {CORES} cores").ns,
        driver_table=few.cpu_ns,
        driver_row=max(0.0, spent / (many.events - few.events)),
        block_bytes=measured.value("block bytes"),
        portion_bytes=measured.value("portion bytes"),
        log_bytes=measured.value("log bytes"),
        state_bytes=states,
        state_by_windows={size: value for size, value in windows.items() if value is not None},
        snapshot_over_state=_sizes(measured, "snapshot bytes")[True][most] / states[True][most],
    )


def _sizes(measured: Measured, name: str) -> dict[bool, dict[int, float]]:
    return {
        shared: {int(row.at): row.value or 0.0 for row in measured.of("size", name, variant)}
        for shared, variant in SHARED.items()
    }
