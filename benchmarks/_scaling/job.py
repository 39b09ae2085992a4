"""Runs whole jobs on an embedded Ray and Spark: throughput, and CPU time by kind of process.

`python -m benchmarks._scaling.job` runs one job. Each number of cores needs its own process,
because Ray and Spark inherit the cores that their parent may use. It reads JSON (`JobRequest`) and
prints rows as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from actors.actor_pool import ActorPool
from benchmarks import _pipeline as pipeline
from benchmarks._cpu_time import cpu_time
from benchmarks._scaling.measure import Times
from benchmarks._scaling.store import Row, sized, timed
from hamlet.job import epoch_pacing
from runtime.language.parser import parse
from runtime.pipeline.manifest import RunCounts

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class JobRequest:
    """`small` has many small files, of which each is to be an epoch. Workloads are text."""

    folder: str
    workload: str
    events: int
    small: str
    small_workload: str
    cores: int
    aggregators: Sequence[int]
    repeats: int


def in_process(request: JobRequest) -> list[Row]:
    command = [sys.executable, "-m", "benchmarks._scaling.job", json.dumps(asdict(request))]
    cores = sorted(os.sched_getaffinity(0))[: request.cores]
    done = subprocess.run(
        ["taskset", "--cpu-list", ",".join(map(str, cores)), *command],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"a job with {request.cores} cores failed:\n{done.stderr[-4_000:]}")
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def measured(request: JobRequest) -> list[Row]:
    """Numbers of aggregators take turns, after a turn that does not count."""
    with pipeline.scratch() as scratch, pipeline.started(request.cores) as job:
        return [*_throughput(job, request, scratch), *_epochs(job, request, scratch)]


def _throughput(job: pipeline.Job, request: JobRequest, scratch: Path) -> list[Row]:
    workload = parse(request.workload)
    pools = {size: ActorPool(size, min(size, 2)) for size in request.aggregators}
    times = {size: Times() for size in pools}
    parts: dict[tuple[str, int], Times] = {}
    counted: dict[int, pipeline.Quiet] = {}
    own = job.pool
    for turn in range(request.repeats + 1):
        for size, pool in pools.items():
            job.pool = pool
            counted[size] = watcher = pipeline.Quiet()
            wall, cpu = cpu_time(
                partial(job.run, Path(request.folder), workload, scratch / "job", watcher=watcher)
            )
            if turn:
                _keep(times[size], wall, sum(cpu.values()))
                for kind, seconds in cpu.items():
                    _keep(parts.setdefault((kind, size), Times()), wall, seconds)
    job.pool = own
    for pool in pools.values():
        pool.close()
    name = f"{request.cores} cores"
    rows = [timed("job", name, "", size, request.events, each) for size, each in times.items()]
    rows += [sized("job epochs", name, size, each.epochs) for size, each in counted.items()]
    rows += [
        sized("job rows", name, size, _counts(each).results.total())
        for size, each in counted.items()
    ]
    return rows + [
        timed("job", name, kind, size, request.events, each) for (kind, size), each in parts.items()
    ]


def _keep(times: Times, wall: float, cpu: float) -> None:
    times.wall.append(wall)
    times.cpu.append(cpu)


def _epochs(job: pipeline.Job, request: JobRequest, scratch: Path) -> list[Row]:
    """What an epoch costs in which there is next to nothing. Rows are for epochs, not events."""
    workload = parse(request.small_workload)
    epochs = len(list(Path(request.small).iterdir()))
    whole, watcher = Times(), pipeline.Quiet()
    parts: dict[str, Times] = {}
    for turn in range(request.repeats + 1):
        watcher = pipeline.Quiet()
        with _a_file_each():
            wall, cpu = cpu_time(
                partial(job.run, Path(request.small), workload, scratch / "job", watcher=watcher)
            )
        if turn:
            _keep(whole, wall, sum(cpu.values()))
            for kind, seconds in cpu.items():
                _keep(parts.setdefault(kind, Times()), wall, seconds)
    name = f"epochs, {request.cores} cores"
    return [
        timed("job", name, "", job.pool.size, epochs, whole),
        sized(
            "epoch events",
            f"{request.cores} cores",
            job.pool.size,
            _counts(watcher).events / epochs,
        ),
        *(timed("job", name, kind, job.pool.size, epochs, each) for kind, each in parts.items()),
    ]


def _counts(watcher: pipeline.Quiet) -> RunCounts:
    """Of the whole job."""
    assert watcher.last is not None
    return watcher.last.counts


@contextmanager
def _a_file_each() -> Iterator[None]:
    """A job reads small files together as far as it can; here it may not."""
    before = epoch_pacing.LEAST_BYTES, epoch_pacing.MOST_BYTES
    epoch_pacing.LEAST_BYTES = epoch_pacing.MOST_BYTES = 1
    try:
        yield
    finally:
        epoch_pacing.LEAST_BYTES, epoch_pacing.MOST_BYTES = before


if __name__ == "__main__":
    found = measured(JobRequest(**json.loads(sys.argv[1])))
    print(json.dumps([asdict(row) for row in found]))
