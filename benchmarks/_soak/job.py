"""`hamlet run` as a command of its own, and what its page tells of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from runtime.errors import Failure

CHECKOUT = Path(__file__).parents[2]
HAMLET = "from hamlet.cli import main; main()"
# To start, and to end, on a machine that may be busy.
START_SECONDS, END_SECONDS = 600.0, 180.0
ANSWER_SECONDS = 10.0


class Job:
    """A job that follows a folder, on Ray and Spark of its own, with all that a job has: the
    optimizer, checkpoints, metrics, and files of results."""

    def __init__(self, folder: Path, source: Path, workload: str) -> None:
        self._log = folder / "log.txt"
        self._port = _free_port()
        queries = folder / "soak.sase"
        queries.write_text(workload)
        arguments = ["run", queries, "--input", source, "--follow", "--time-unit", "us"]
        arguments += ["--checkpoint", folder / "checkpoint", "--output", folder / "results"]
        arguments += ["--metrics-port", self._port, "--name", f"soak-{os.getpid()}"]
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", HAMLET, *map(str, arguments)],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        if self._process.poll() is not None:
            raise Failure(f"the job ended with {self._process.returncode}: {self._said()}")

    def metrics(self) -> dict[str, Any] | None:
        """The newest snapshot; None if there is none, or the page does not answer."""
        try:
            with urlopen(f"http://127.0.0.1:{self._port}/metrics.json", None, ANSWER_SECONDS) as it:
                found: dict[str, Any] | None = json.load(it)
        except OSError:
            return None
        return found

    def await_events(self) -> None:
        until = time.monotonic() + START_SECONDS
        while not (self.metrics() or {}).get("events"):
            self.check()
            if time.monotonic() > until:
                raise Failure(f"the job has no events after {START_SECONDS:g} s: {self._said()}")
            time.sleep(0.5)

    def stop(self) -> None:
        """As a user stops it, after the epochs under way."""
        self._process.terminate()
        code = self._process.wait(END_SECONDS)
        if code:
            raise Failure(f"the job ended with {code}: {self._said()}")

    def close(self) -> None:
        """Ends it if it still runs."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _said(self) -> str:
        return self._log.read_text(errors="replace")[-2_000:].strip()


@contextmanager
def started(folder: Path, source: Path, workload: str) -> Iterator[Job]:
    job = Job(folder, source, workload)
    try:
        yield job
    finally:
        job.close()


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def summary(metrics: dict[str, Any]) -> dict[str, Any]:
    """What the job did: bursts that queries shared and that they did not, and what the optimizer
    sent."""
    types = [each for group in metrics["groups"] for each in group["types"]]
    model = metrics["model"]
    return {
        "epochs": metrics["epochs"],
        "events": metrics["events"],
        "results": metrics["results"],
        "lost": metrics["late"] + sum(metrics["invalid_rows"].values()),
        "bursts_shared": sum(each["shared"] for each in types),
        "bursts_split": sum(each["split"] for each in types),
        "policies": model["policy"],
        "replans": sum(each["count"] for each in model["replans"]),
        "restarts": sum(metrics["restarts"].values()),
    }


def problems(done: dict[str, Any]) -> Iterator[str]:
    """What keeps it from being a soak of the whole system."""
    if not done["bursts_shared"]:
        yield "the queries shared nothing"
    if not done["policies"]:
        yield "the optimizer sent no policy"
    if done["lost"]:
        yield f"{done['lost']:,} rows were late or invalid"
    if done["restarts"]:
        yield f"{done['restarts']} restarts"
