"""A system in a process of its own: it ends when it must, and says how."""

import multiprocessing
from types import SimpleNamespace

import pytest
from numba.core.event import trigger_event

from bench.papers.systems import find, threads
from benchmarks._papers.worker import TRIES, Clocks, RequestHandler, Stopped, Worker
from hamlet.cli.compile_progress import watch_compiler
from runtime.errors import HamletError
from tools.patience import PATIENCE_S

WORKLOAD = "RETURN COUNT(*) PATTERN A+ WITHIN 10 us"
LIMIT = 1.0  # of what does not end by itself


@pytest.fixture
def worker():
    made = []

    def start(name, **options):
        made.append(Worker(name, find, **options))
        return made[-1]

    yield start
    for each in made:
        each.end()
    assert not multiprocessing.active_children()


def stopped(worker, limit=LIMIT):
    try:
        worker.prepare(WORKLOAD, None)
        worker.first(limit)
    except Stopped as stop:
        return stop.status, stop.reason
    return "ended", ""


def test_a_run_without_an_end_is_ended_and_the_worker_starts_again(worker):
    for each in (worker("sleeps"), worker("loops")):
        assert stopped(each) == ("not ended", "did not end in 1 s")
    assert stopped(each) == ("not ended", "did not end in 1 s")


def test_a_repeat_without_an_end_is_ended(worker):
    one = worker("loops-later")
    one.prepare(WORKLOAD, None)
    one.first(PATIENCE_S)
    with pytest.raises(Stopped, match="did not end in 1 s"):
        one.timed(LIMIT)


def test_what_goes_wrong_is_told(worker):
    assert stopped(worker("dies"), PATIENCE_S) == ("failed", "its process died (exit code 3)")
    assert stopped(worker("breaks"), PATIENCE_S) == ("failed", "ValueError: as it must")
    assert stopped(worker("refuses"), PATIENCE_S) == ("cannot", "it would rather not")
    hoarder = worker("hoards", memory_bytes=2**29)
    assert stopped(hoarder, PATIENCE_S) == ("failed", "out of memory (0.5 GB)")


def test_a_system_that_cannot_be_loaded(worker):
    with pytest.raises(HamletError, match="`is-not-there` cannot be loaded: ModuleNotFoundError"):
        worker("is-not-there").prepare(WORKLOAD, None)


def test_a_timed_run_that_compiled_is_made_again(worker):
    """The first two runs compile."""
    one = worker("compiles")
    one.prepare(WORKLOAD, None)
    assert one.first(PATIENCE_S).figures == {"runs": 1}
    ran = one.timed(PATIENCE_S)
    assert ran.figures["runs"] in range(3, 3 + TRIES)


def test_the_clock_of_a_run_stands_still_while_numba_compiles(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("benchmarks._papers.worker.time", SimpleNamespace(monotonic=lambda: now[0]))
    clocks = Clocks()
    with watch_compiler(clocks.compiling), clocks.running():
        now[0] += 1.0
        with trigger_event("numba:compile"):
            now[0] += 1000.0
            assert (clocks.ran(), clocks.compiled()) == (1.0, 0.0)
        now[0] += 2.0
        assert (clocks.ran(), clocks.compiled()) == (3.0, 1000.0)
    assert clocks.ran() == 0.0


def test_a_short_run_goes_once_to_fill_the_caches_and_then_thrice(monkeypatch):
    monkeypatch.setattr("benchmarks._papers.worker.SHORT_SECONDS", PATIENCE_S)
    monkeypatch.setattr("benchmarks._papers.worker.LEAST_CPU", 0.0)
    handler = RequestHandler(find("behaves"), Clocks())
    handler.do("prepare", (WORKLOAD, None))
    handler.do("first", None)
    assert handler.do("timed", None).figures["runs"] in (3, 4, 5)
    assert handler.do("timed", None).figures["runs"] in (7, 8, 9)


def test_a_run_that_was_held_up_is_made_again():
    handler = RequestHandler(find("is-held-up"), Clocks())
    handler.do("prepare", (WORKLOAD, None))
    handler.do("first", None)
    ran = handler.do("timed", None)
    assert ran.figures["runs"] >= 4
    assert ran.cpu_seconds > 0.01
    handler = RequestHandler(find("sleeps-a-little"), Clocks())  # always: then it is taken as it is
    handler.do("prepare", (WORKLOAD, None))
    handler.do("first", None)
    assert handler.do("timed", None).figures["runs"] == 1 + TRIES


def test_a_timed_run(worker):
    one = worker("behaves")
    one.prepare(WORKLOAD, None)
    assert one.first(PATIENCE_S).answers == {}
    ran = one.timed(PATIENCE_S)
    assert ran.answers is None
    assert ran.seconds > 0
    assert ran.cpu_seconds >= 0


def test_one_thread():
    """Told by the libraries themselves, in the worker."""
    one = Worker("threads", threads)
    one.prepare(WORKLOAD, None)
    assert set(one.first(PATIENCE_S).figures.values()) == {1.0}
    one.end()
