"""A change of queries is confirmed once it is committed, and not before."""

import json
import os
import signal
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
import ray

from actors.control import PREFIX
from cluster import proc
from cluster.faults import processes
from cluster.faults.command import Command, query
from cluster.faults.job import Jobs, RecordingScreen
from hamlet.job import job_registry
from hamlet.job.control_client import ControlClient
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import Manifest
from tools.patience import PATIENCE_S

FIRST = "QUERY first RETURN COUNT(*) AS n PATTERN SEQ(A, C) WHERE [driver] WITHIN 20 seconds\n"
SECOND = "QUERY second RETURN COUNT(*) AS n PATTERN SEQ(B, C) WHERE [driver] WITHIN 20 seconds\n"


@pytest.fixture
def held(monkeypatch):
    """Calls a function before the record of the epoch that adds the query is written."""

    def hold(before):
        def commit(checkpoints, manifest, results):
            if not called.is_set() and "first" in names(manifest):
                before()
                called.set()
            write(checkpoints, manifest, results)

        called, write = threading.Event(), CheckpointStore.commit
        monkeypatch.setattr(CheckpointStore, "commit", commit)
        return called

    return hold


def names(manifest: Manifest) -> set[str]:
    return {query.name for query in manifest.workload}


def test_no_answer_before_the_commit(job: Jobs, held):
    job.fill(0, 10)
    seen, stop = RecordingScreen(), threading.Event()
    with ThreadPoolExecutor(1) as threads:
        answers, early = [], []

        def ask():
            seen.wait(3)
            found = job_registry.find(f"faults-{os.getpid()}")
            control = ray.get_actor(PREFIX + found.name, namespace=found.namespace)
            return ControlClient(found, control).change({"add": FIRST})

        called = held(lambda: early.extend(wait([answers[0]], 2).done))
        answers.append(threads.submit(ask))
        answers[0].add_done_callback(lambda answer: stop.set())
        job.run(seen, stopping=stop.is_set)
        answer = answers[0].result()
    assert called.is_set()
    assert not early
    assert answer["added"] == ["first"]
    committed = {report.epoch for report in seen.reports}
    assert answer["epoch"] in committed | {max(committed) + 1}


@pytest.fixture
def more(tmp_path):
    (tmp_path / "first.sase").write_text(FIRST)
    (tmp_path / "second.sase").write_text(SECOND)


def queries_of(command: Command) -> set[str]:
    """Those of the two that the newest manifest has."""
    manifest = CheckpointStore(BlobStore(str(command.checkpoint))).last()
    assert manifest is not None
    return names(manifest) & {"first", "second"}


def stop_aggregators(command: Command) -> None:
    """Also those that the watchdog has started in the place of stopped ones: no epoch commits."""
    for pid in processes.of("aggregator", command.pid):
        processes.stop(pid)


def shown(url: str) -> bool:
    """Whether the job's page has the second query: the change is in an epoch."""
    time.sleep(0.5)
    with urllib.request.urlopen(f"{url}/metrics.json") as answer:
        return '"second"' in json.dumps(json.load(answer))


def test_a_driver_that_dies(command: Command, more, tmp_path: Path):
    command.fill(0, 10)
    command.start()
    command.next_epoch()
    adding = query(command, "add", "first.sase")
    said = adding.communicate(timeout=PATIENCE_S)[1]
    command.kill()
    assert "added first with epoch" in said
    assert queries_of(command) == {"first"}

    command.start()
    command.fill(10, 12)
    command.next_epoch()
    assert "first" in query(command, "list").communicate(timeout=PATIENCE_S)[0]
    stop_aggregators(command)
    url = job_registry.find("faults").hub
    adding = query(command, "add", "second.sase")
    command.wait_for(lambda: stop_aggregators(command) or adding.poll() is not None or shown(url))
    below = proc.tree(command.pid)
    command.kill()
    said = adding.communicate(timeout=PATIENCE_S)[1]
    for pid in filter(proc.alive, below):
        os.kill(pid, signal.SIGKILL)
    assert "added" not in said
    assert "the job has ended, so a change may not have been made" in said
    assert "hamlet query list" in said
    assert adding.returncode == 2
    assert queries_of(command) == {"first"}
