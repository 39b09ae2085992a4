"""Points, turns and answers."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.papers.here import HereWorkerPool
from bench.papers.systems import find
from benchmarks._papers import measure as measuring
from benchmarks._papers import store
from benchmarks._papers.experiment import experiments
from benchmarks._papers.measure import TINY, Mode, WorkerPool, measured, points
from benchmarks._papers.store import Measured
from benchmarks._papers.worker import Stopped
from runtime.errors import Failure
from tools.patience import PATIENCE_S

SHORT = Mode("tiny", limit=1.0, repeats=2)


@pytest.fixture
def small(odd: Path):
    """With `queries` only, of one and of two; systems as said."""

    def make(*systems):
        (found,) = experiments(odd, [*systems, *experiments(odd)[0].systems])
        return replace(found.only(["odd-1a"]), systems=systems)

    return make


def status(rows):
    return [(row.x, row.system, row.status) for row in rows]


class PatientPool(WorkerPool):
    """The limit of a mode holds for what sleeps; the others get all the time that they need."""

    def start(self, system):
        found = super().start(system)
        if "sleeps" not in system:
            first, timed = found.first, found.timed
            found.first = lambda _: first(PATIENCE_S)
            found.timed = lambda _: timed(PATIENCE_S)
        return found


def test_a_system_that_does_not_end_is_not_tried_again(small, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(measuring, "WARM_SECONDS", 0.5)
    told = []
    with PatientPool(find) as pool:
        rows = measured(small("plan-sleeps", "hamlet"), SHORT, pool, told.append)
    assert status(rows) == [
        ("1", "plan-sleeps", "not ended"),
        ("1", "hamlet", "ended"),
        ("2", "plan-sleeps", "not tried"),
        ("2", "hamlet", "ended"),
    ]
    assert [len(each) for each in told] == [2, 2]
    assert rows[0].reason == "did not end in 1 s"
    assert rows[2].reason == "did not end in 1 s at queries 1"
    assert rows[0].seconds == ()
    assert (len(rows[1].seconds), len(rows[1].cpu_seconds)) == (2, 2)
    assert (rows[1].events, rows[1].queries, rows[1].windows) == (200, 1, 4)
    assert rows[1].state_bytes > 0


@pytest.mark.parametrize("name", ["lies", "behaves"])
def test_different_answers_fail_loudly(small, name: str):
    """One gives a row that is none, the other gives none."""
    with pytest.raises(Failure, match=f"odd-1, queries 1: `{name}` and `hamlet` give different"):
        measured(small("hamlet", name), TINY, HereWorkerPool(find), lambda rows: None)


def test_planners_have_no_answers_and_no_windows(small):
    rows = measured(small("plan-behaves", "hamlet"), TINY, HereWorkerPool(find), lambda rows: None)
    assert {row.status for row in rows} == {"ended"}
    assert {(row.system, row.windows) for row in rows} == {("plan-behaves", 1), ("hamlet", 4)}


def test_what_a_system_cannot_express(small):
    rows = measured(small("hamlet", "refuses"), TINY, HereWorkerPool(find), lambda rows: None)
    assert [(row.status, row.reason) for row in rows if row.system == "refuses"] == [
        ("cannot", "it would rather not")
    ] * 2


def test_systems_take_turns_in_an_order_that_rotates(small):
    turns = []

    class Watched(HereWorkerPool):
        def start(self, system):
            found = super().start(system)
            run = found.timed
            found.timed = lambda limit: (turns.append(system), run(limit))[1]
            return found

    systems = ("hamlet", "hamlet-static", "hamlet-not-shared")
    mode = Mode("tiny", 1.0, repeats=3)
    rows = measured(small(*systems), mode, Watched(find), lambda rows: None)
    a, b, c = systems
    assert turns[:9] == [a, b, c, b, c, a, c, a, b]
    assert len(turns) == 3 * len(rows)


def test_a_repeat_that_does_not_end_takes_the_others_back(small):
    """A median of the runs that were quick enough would be too small."""

    class Slowing(HereWorkerPool):
        def start(self, system):
            found = super().start(system)
            run, times = found.timed, iter(range(9))

            def timed(limit):
                if system == "hamlet-static" and next(times) == 1:
                    raise Stopped("not ended", "did not end in 1 s")
                return run(limit)

            found.timed = timed
            return found

    rows = measured(small("hamlet", "hamlet-static"), SHORT, Slowing(find), lambda rows: None)
    assert status(rows)[1] == ("1", "hamlet-static", "not ended")
    assert rows[1].seconds == ()


def test_points(odd: Path):
    assert points(experiments(odd), TINY) == 3
    assert points(experiments(odd), Mode("full", 1.0, 1)) == 5


def test_measurements_are_kept(small, tmp_path: Path):
    rows = measured(small("hamlet", "refuses"), TINY, HereWorkerPool(find), lambda rows: None)
    kept = Measured(tuple(rows), store.about("tiny", 1.0, 2**30, 1))
    store.write(tmp_path / "papers.parquet", kept)
    assert store.read(tmp_path / "papers.parquet") == kept
    assert kept.about["machine"].keys() == {"cpu", "cores", "memory_gb", "system"}
    assert kept.about["versions"].keys() == {"hamlet", "python", "numba", "numpy", "pyarrow"}
