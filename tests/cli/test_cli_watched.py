"""A watched query file with an error: told with its place, and nothing ends."""

import signal
from threading import Timer
from types import SimpleNamespace

import pytest

from hamlet.cli import watch_mode
from hamlet.cli.stderr import Notices
from hamlet.cli.workload import read_workload
from runtime.errors import ErrorLocation, QueryError, WorkloadError
from runtime.language.parser import parse
from runtime.pipeline.checkpoint import CheckpointStore
from tools.patience import PATIENCE_S

GOOD = "QUERY a RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 minute\n"
BROKEN = "QUERY a RETURN COUNT(*) AS n PATERN A+ WITHIN 1 minute\n"
PLACED = "queries.sase:1:30: error: "


class Run:
    """What was run. Queries called as one of `refused` do not fit the input."""

    def __init__(self, *refused):
        self.refused, self.names = refused, []

    def __call__(self, queries):
        (query,) = queries
        self.names.append(query.name)
        if query.name in self.refused:
            place = ErrorLocation("queries.sase", 1, 1, 5, GOOD)
            raise WorkloadError([QueryError("there is no such column", place)])


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(watch_mode, "POLL_SECONDS", 0.01)
    return tmp_path / "queries.sase"


@pytest.fixture
def told(capfd):
    return lambda: capfd.readouterr().err


def begin(path, run, checkpoint=None, later=None):
    """`later` is what the file holds after a while."""
    if later is not None:
        Timer(0.1, path.write_text, [later]).start()
    watch_mode.run_watched(path, lambda: read_workload(path), run, checkpoint, Notices())


def test_a_good_file_is_run(path, told):
    path.write_text(GOOD)
    run = Run()
    begin(path, run)
    assert run.names == ["a"]
    assert told() == ""


def test_a_broken_one_when_it_is_corrected(path, told):
    path.write_text(BROKEN)
    run = Run()
    begin(path, run, later=GOOD)
    assert run.names == ["a"]
    said = told()
    assert PLACED in said
    assert "\n    | " + " " * 29 + "^^^^^^\n" in said  # the caret under its place
    assert said.count("waiting for") == 1


def test_one_that_comes_later(path, told):
    run = Run()
    begin(path, run, later=GOOD)
    assert run.names == ["a"]
    assert "there is no query file" in told()


def test_queries_that_do_not_fit_the_input(path, told):
    path.write_text(GOOD)
    run = Run("a")
    begin(path, run, later=GOOD.replace("QUERY a", "QUERY b"))
    assert run.names == ["a", "b"]
    assert "there is no such column" in told()


def test_a_checkpoint_has_queries_to_go_on_with(path, tmp_path, told, monkeypatch):
    path.write_text(BROKEN)
    kept = SimpleNamespace(workload=parse(GOOD.replace("QUERY a", "QUERY kept")))
    monkeypatch.setattr(CheckpointStore, "last", lambda checkpoints: kept)
    run = Run()
    begin(path, run, str(tmp_path / "state"))
    assert run.names == ["kept"]
    said = told()
    assert PLACED in said
    assert "using the queries of the checkpoint until it is corrected" in said


def test_an_empty_checkpoint_has_none(path, tmp_path):
    path.write_text(BROKEN)
    run = Run()
    begin(path, run, str(tmp_path / "state"), later=GOOD)
    assert run.names == ["a"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_wait(folder, process, number, code):
    (folder / "ride.sase").write_text(BROKEN)
    options = ("--engine", "ray", "--input", ".", "--follow", "--watch-workload")
    waiting = process("run", "ride.sase", *options)
    assert waiting.stderr is not None
    for line in waiting.stderr:
        if b"waiting for ride.sase" in line:
            break
    waiting.send_signal(number)
    assert waiting.wait(PATIENCE_S) == code
