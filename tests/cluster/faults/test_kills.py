"""Processes of a job are killed at random moments: what it writes is what it writes undisturbed.

Files are put into the folder as the kills go on, so that there is always something to be done.
"""

import random
import threading
import time
from collections.abc import Sequence

import pytest
import ray

from cluster.faults import processes, stream
from cluster.faults.job import Jobs, RecordingScreen
from spark_ingest.arrow_export import EXECUTOR
from tools.patience import PATIENCE_S

# Files that wait when something is killed: epochs are being read and computed then.
WAITING = 4
# About as long as an epoch takes, so that a kill can be at any point of one.
EPOCH_S = 0.8
# Epochs that are committed before the next kill. An executor that is killed while it starts is
# missed by Ray for a minute only, so it is left in peace until it has read something.
RECOVERED = {"aggregator": 1, "router": 1, "optimizer": 1, "executor": WAITING}


class Killer(threading.Thread):
    """Kills one process of each kind after the other, and feeds the job."""

    def __init__(self, job: Jobs, seen: RecordingScreen, kinds: Sequence[str], seed: int) -> None:
        super().__init__(name="killer", daemon=True)
        self._job, self._seen, self._kinds = job, seen, kinds
        self._chance = random.Random(seed)
        self._put = 0
        self.killed: list[str] = []

    def run(self) -> None:
        self._feed(WAITING)
        self._seen.wait(1)
        for kind in self._kinds:
            before = len(self._seen.reports)
            self._feed(before + WAITING)
            time.sleep(self._chance.uniform(0, EPOCH_S))
            self._kill(kind)
            self._seen.wait(before + RECOVERED[kind])
        self._feed(stream.FILES)

    def _kill(self, kind: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            found = processes.of(kind)
            if found:
                processes.kill(self._chance.choice(found))
                self.killed.append(kind)
                return
            time.sleep(0.05)

    def _feed(self, files: int) -> None:
        files = min(files, stream.FILES)
        self._job.fill(self._put, files)
        self._put = max(self._put, files)


def test_executor_that_ray_does_not_restart(job, undisturbed):
    """Another one is asked for in its place."""
    seen = RecordingScreen()
    job.fill()

    def end() -> None:
        seen.wait(5)
        found = ray.util.list_named_actors(all_namespaces=True)
        names = [each for each in found if each["name"].startswith(EXECUTOR)]
        assert len(names) == 1
        executor = ray.get_actor(names[0]["name"], namespace=names[0]["namespace"])
        ray.kill(executor, no_restart=True)

    ending = threading.Thread(target=end, daemon=True)
    ending.start()
    job.run(seen)
    ending.join()
    assert stream.written(job.output) == undisturbed


@pytest.mark.parametrize(
    ("kinds", "seed"),
    [
        (["aggregator"] * 8, 1),
        (["aggregator"] * 8, 2),
        (["router"] * 6, 3),
        (["optimizer"] * 6, 4),
        (["executor"] * 4, 5),
        (["aggregator", "executor", "router", "optimizer"] * 2, 6),
    ],
    ids=lambda given: given[0] if isinstance(given, list) and len(set(given)) == 1 else None,
)
def test_kills(job, undisturbed, kinds, seed, capfd):
    seen = RecordingScreen()
    killer = Killer(job, seen, kinds, seed)
    job.input.mkdir()
    killer.start()
    job.run(seen)
    killer.join()
    assert killer.killed == kinds
    assert stream.written(job.output) == undisturbed
    assert capfd.readouterr().out == ""  # where results may go
