"""After many events, a share group moves to a kernel that is made for it."""

import time

import numpy as np
import pyarrow as pa
import pytest

from runtime.execution import kernel_upgrade
from runtime.pipeline.engine import Engine
from tools.patience import PATIENCE_S

WORKLOAD = """
QUERY a RETURN key, COUNT(*), SUM(B.x), MIN(B.x) PATTERN SEQ(A, B+)
WHERE B.x < 8 GROUP-BY key WITHIN 200 ms SLIDE 50 ms
QUERY b RETURN key, COUNT(*), AVG(B.x) PATTERN SEQ(B+, C) GROUP-BY key WITHIN 100 ms
"""


def stream(events: int = 600) -> pa.Table:
    draw = np.random.default_rng(5)
    return pa.table(
        {
            "time": np.sort(draw.integers(0, 1_000, events)),
            "type": draw.choice(["A", "B", "B", "B", "C"], events),
            "key": draw.integers(0, 3, events),
            "x": draw.integers(0, 10, events),
        }
    )


def results(**options: str) -> tuple[Engine, dict[str, list[dict]]]:
    table = stream()
    engine = Engine(WORKLOAD, time_unit="ms", **options)
    found: dict[str, list[dict]] = {"a": [], "b": []}
    for start in range(0, table.num_rows, 7):
        piece = table.slice(start, 7)
        each = engine.process(piece), engine.advance(int(piece["time"][-1].as_py()) * 1_000)
        for part in each:
            for name, rows in part.items():
                found[name] += rows.to_pylist()
    for name, rows in engine.finish().items():
        found[name] += rows.to_pylist()
    return engine, found


def kinds(engine: Engine) -> set[bool]:
    return {
        not one.can_specialize for each in engine.shard.backend.executors for one in each.operators
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def fresh(folder, monkeypatch):
    """A machine that has compiled nothing yet; what the tests compile it has then."""
    monkeypatch.setenv("HAMLET_CACHE", str(folder))


def test_events_are_taken_while_another_process_compiles(fresh, monkeypatch):
    results()  # the kernel for many workloads
    monkeypatch.setattr(kernel_upgrade, "LONG_STREAM", 1)
    engine, _ = results()
    assert kinds(engine) == {False}
    processes = [each._upgrade._compiling._process for each in engine.shard.backend.executors]
    assert [each.poll() for each in processes] == [None]
    del engine
    assert processes[0].wait(PATIENCE_S) != 0  # it stops with whoever wanted it


def test_moving_changes_no_result(fresh, monkeypatch):
    general, wanted = results()
    assert kinds(general) == {False}
    monkeypatch.setattr(kernel_upgrade, "LONG_STREAM", 300)
    monkeypatch.setattr(kernel_upgrade, "BackgroundCompile", Waited)
    moved, found = results()
    assert kinds(moved) == {True}
    assert found == wanted
    _, exact = results(numeric="exact")
    assert [row["COUNT(*)"] for row in found["a"]] == [float(r["COUNT(*)"]) for r in exact["a"]]
    assert len(found["a"]) > 50


class Waited(kernel_upgrade.BackgroundCompile):
    """What it compiles is there when the next events come."""

    def has_finished(self) -> bool:
        while self._process.poll() is None:
            time.sleep(0.1)
        assert self._process.returncode == 0
        return super().has_finished()
