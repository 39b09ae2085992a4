"""The log of a run: small whatever happens, and whole lines only."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from metrics.example_job import after_epoch, collector, replanned
from runtime.errors import InputError
from runtime.io.read import open_input
from runtime.report.log_reader import read_history
from runtime.report.run_log import (
    BYTES_A_SECOND,
    FIRST_BYTES,
    MOST_DECISIONS,
    NAME,
    RunLog,
    unpacked,
)

QUERIES = ("one", "two", "three")
DAY = 86_400


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / NAME).read_text().splitlines()]


def test_a_line_a_second_at_the_most_and_one_for_the_end(tmp_path: Path):
    clock, kept = Clock(), collector()
    log = RunLog(tmp_path, lasting=True, clock=clock)
    for epoch in range(50):
        log.update(after_epoch(kept, epoch, QUERIES))
        clock.now += 0.1
    log.update(after_epoch(kept, 50, QUERIES, finished=True))
    log.close()
    found = lines(tmp_path)
    assert len(found) == 6
    assert found[-1]["finished"]
    assert found[-1]["events"] == 51_000
    assert unpacked(found[-1]["queries"]["two"]["latency"]) == kept.snapshot.queries["two"].latency


def test_what_was_not_told_yet_is_told_when_a_run_is_stopped(tmp_path: Path):
    clock, kept = Clock(), collector()
    log = RunLog(tmp_path, lasting=True, clock=clock)
    log.update(after_epoch(kept, 0, QUERIES))
    log.update(after_epoch(kept, 1, QUERIES))
    log.close()
    assert [line["epoch"] for line in lines(tmp_path)] == [0, 1]


def test_decisions_and_plans_are_told_once(tmp_path: Path):
    clock, kept = Clock(), collector()
    log = RunLog(tmp_path, lasting=True, clock=clock)
    snapshot = replanned(after_epoch(kept, 0, QUERIES), 5.0, "queries were added or removed")
    log.update(snapshot)
    clock.now += 1
    model = replanned(snapshot, 6.0, "rates").model
    log.update(replace(after_epoch(kept, 1, QUERIES), model=model))
    first, second = lines(tmp_path)
    assert [each["epoch"] for each in first["log"] + second["log"]] == [0, 0, 1, 1]
    assert len(second["log"]) <= MOST_DECISIONS
    reasons = [each["reason"] for line in (first, second) for each in line["model"]["last_replans"]]
    assert reasons == ["queries were added or removed", "rates"]
    assert "drawings" not in first


@pytest.mark.parametrize("queries", [3, 200])
def test_a_file_stays_small(tmp_path: Path, queries: int):
    names = tuple(f"query {n}" for n in range(queries))
    clock, kept = Clock(), collector(names)
    snapshot = after_epoch(kept, 0, names)
    log = RunLog(tmp_path, lasting=True, clock=clock)
    hours = 3
    for second in range(3_600 * hours):
        log.update(replace(snapshot, epoch=second))
        clock.now += 1
    size = (tmp_path / NAME).stat().st_size
    longest = max(len(line) for line in (tmp_path / NAME).read_text().splitlines())
    assert size <= FIRST_BYTES + BYTES_A_SECOND * 3_600 * hours + longest + 1
    assert FIRST_BYTES + BYTES_A_SECOND * DAY < 50e6
    assert lines(tmp_path)[-1]["epoch"] > 3_500 * hours, "also the end of the run is there"


def test_a_run_that_continues_appends_and_another_starts_over(tmp_path: Path):
    kept = collector()  # of both: they may begin within one tick of the clock
    log = RunLog(tmp_path, lasting=True)
    log.update(after_epoch(kept, 0, QUERIES))
    log.close()
    with (tmp_path / NAME).open("a") as file:
        file.write('{"version":1,"cut o')  # killed while it wrote
    log = RunLog(tmp_path, lasting=True, goes_on=True)
    log.update(after_epoch(kept, 1, QUERIES))
    log.close()
    history = read_history(tmp_path)
    assert [line["epoch"] for line in history.lines] == [0, 1]
    assert history.notes == ["damaged lines of the log were skipped: 2"]
    assert len(history.runs) == 2

    log = RunLog(tmp_path, lasting=True)
    log.update(after_epoch(collector(), 0, QUERIES))
    assert len(lines(tmp_path)) == 1


@pytest.mark.parametrize("lasting", [True, False])
def test_what_cannot_be_written_stops_nothing(tmp_path: Path, lasting: bool):
    said: list[str] = []
    (tmp_path / NAME).mkdir()
    log = RunLog(tmp_path, said.append, lasting)
    kept = collector()
    for epoch in range(3):
        log.update(after_epoch(kept, epoch, QUERIES, finished=True))
    log.close()
    assert len(said) == 1
    assert "no report of this run" in said[0]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_that_of_a_bounded_run_appears_when_it_has_ended(tmp_path: Path):
    results = tmp_path / "results"
    log, kept = RunLog(results), collector()
    log.update(after_epoch(kept, 0, QUERIES))
    assert not (results / NAME).exists()
    log.update(after_epoch(kept, 1, QUERIES, finished=True))
    log.close()
    assert [path.name for path in results.iterdir()] == [NAME]
    assert len(lines(results)) == 2

    log = RunLog(results)  # another one, which is interrupted: what was there stays
    log.update(after_epoch(collector(), 0, QUERIES))
    log.close()
    assert len(lines(results)) == 2
    log = RunLog(tmp_path / "other")
    log.update(after_epoch(collector(), 0, QUERIES))
    log.close()
    assert not (tmp_path / "other").exists()


def test_a_run_that_does_nothing_leaves_nothing(tmp_path: Path):
    log = RunLog(tmp_path / "results")
    log.update(collector().snapshot)
    log.close()
    assert not (tmp_path / "results").exists()


def test_readers_of_the_folder_do_not_see_it(tmp_path: Path):
    log = RunLog(tmp_path, lasting=True)
    log.update(after_epoch(collector(), 0, QUERIES))
    (tmp_path / "q.jsonl").write_text('{"time": 1, "type": "A"}\n')
    with open_input(tmp_path) as source:
        assert sum(block.batch.num_rows for block in source) == 1


def test_a_damaged_last_line_is_passed_over_with_a_word(tmp_path: Path):
    log = RunLog(tmp_path, lasting=True)
    log.update(after_epoch(collector(), 0, QUERIES))
    with (tmp_path / NAME).open("a") as file:
        file.write('{"version": 2, "ev')
    history = read_history(tmp_path)
    assert len(history.lines) == 1
    assert history.notes == ["the last line of the log is damaged and was skipped"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "_run.jsonl does not exist"),
        ("", "has no valid line"),
        ("[]\nnothing\n", "has no valid line"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, text: str | None, said: str):
    if text is not None:
        (tmp_path / NAME).write_text(text)
    with pytest.raises(InputError, match=said):
        read_history(tmp_path)


@pytest.mark.parametrize("version", [1, 3])
def test_a_log_of_another_version_is_refused(tmp_path: Path, version: int):
    log = RunLog(tmp_path, lasting=True)
    log.update(after_epoch(collector(), 0, QUERIES))
    text = (tmp_path / NAME).read_text().replace('"version":2', f'"version":{version}', 1)
    (tmp_path / NAME).write_text(text)
    with pytest.raises(InputError, match=f"has version {version}; this Hamlet reads version 2"):
        read_history(tmp_path)
