"""Bytes that reach the driver of a job on two nodes, of which it has one to itself.

`python -m benchmarks._driver_bytes` is the job; it must run in a network of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks import _pipeline as pipeline
from benchmarks import _two_nodes as nodes
from benchmarks._commands import ENVIRONMENT, HAMLET, first_record, written_queries
from runtime.language.parser import parse

POLL_SECONDS = 0.05
IDLE_SECONDS = 5


def measure(data: pipeline.Input, scratch: Path) -> dict[str, float]:
    """From the beginning of reading to the end of the job, results included: they come to the
    driver to be written. What Ray and Spark send to it as they start is a figure of its own, and so
    is what two nodes of Ray tell each other without a job."""
    queries = written_queries(_with_few_results(data), scratch)
    with tempfile.TemporaryDirectory(prefix="hamlet-") as folder:  # sockets need a short path
        asked = [str(data.folder), str(queries), str(scratch), folder]
        command = nodes.isolated([sys.executable, "-m", "benchmarks._driver_bytes", *asked])
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"a job on two nodes failed:\n{done.stdout}{done.stderr[-4_000:]}")
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    size = sum(path.stat().st_size for path in data.folder.iterdir())
    return {
        "driver_bytes_over_input": found["reading"] / size,
        "driver_bytes": found["reading"],
        "driver_bytes_of_results": found["results"],
        "driver_bytes_before_reading": found["starting"],
        "driver_bytes_idle_a_second": found["idle"] / IDLE_SECONDS,
        "input_bytes": size,
    }


def _with_few_results(data: pipeline.Input) -> pipeline.Input:
    """A row for each query and window, not for each key."""
    text = data.workload.source.text
    text = text.replace("RETURN key,", "RETURN").replace("GROUP-BY key", "WHERE [key]")
    return replace(data, workload=parse(text))


def _job(data: Path, queries: Path, scratch: Path, folder: Path) -> dict[str, int]:
    output, checkpoint = scratch / "nodes-output", scratch / "nodes-checkpoint"
    with nodes.two_nodes(folder) as environment, _counter() as counted:
        first = nodes.received()
        time.sleep(IDLE_SECONDS)
        idle = nodes.received() - first
        command = [
            *(*HAMLET, "run", str(queries), "--input", str(data), "--time-unit", pipeline.UNIT),
            *("--address", f"{nodes.DRIVER}:{nodes.PORT}", "--output", str(output)),
            *("--checkpoint", str(checkpoint)),
        ]
        subprocess.run(command, env={**ENVIRONMENT, **environment}, check=True)
    began = first_record(output)["began"]
    before = next(total for moment, total in reversed(counted) if moment <= began)
    results = sum(path.stat().st_size for path in output.glob("*.parquet"))
    return {
        "starting": before - counted[0][1],
        "reading": counted[-1][1] - before,
        "results": results,
        "idle": idle,
    }


@contextmanager
def _counter() -> Iterator[list[tuple[float, int]]]:
    """What was received so far, with the time."""
    found, ended = [(0.0, nodes.received())], threading.Event()

    def count() -> None:
        while not ended.wait(POLL_SECONDS):
            found.append((time.time(), nodes.received()))

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield found
    finally:
        found.append((time.time(), nodes.received()))
        ended.set()
        thread.join()


if __name__ == "__main__":
    print(json.dumps(_job(*map(Path, sys.argv[1:5]))))
