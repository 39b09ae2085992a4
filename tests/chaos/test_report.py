"""What the report of a history says."""

import json
from collections import Counter
from pathlib import Path

import pytest

from chaos import __main__ as program
from chaos.report import LIMIT_S, Entry, Report
from chaos.schedule import FILES, Step

STEPS = [Step(1, FILES, "flip while down", 5), Step(2, FILES, "stop", 6)]


@pytest.fixture
def report() -> Report:
    report = Report(7, STEPS)
    report.entries = [Entry(step, 10.0, 1.0, 2.0, "went on") for step in STEPS]
    report.flips = {FILES: Counter({"a/epochs/#.epoch": 1})}
    report.in_process = {"runs on a failing disk": Counter({"write: EIO": 2_400, "crash": 100})}
    report.seconds = LIMIT_S
    return report


def test_faults_in_process_and_flips_are_counted_by_kind(report: Report, tmp_path: Path) -> None:
    report.write(tmp_path)
    text = (tmp_path / "seed-7.txt").read_text()
    assert text == report.text()
    assert text.startswith("seed 7: 2 faults and 2,500 in process in 60 minutes\n")
    rows = {tuple(line.rsplit(maxsplit=1)) for line in text.splitlines() if line[-1:].isdigit()}
    assert {
        ("bits flipped, files", "1"),
        ("  a/epochs/#.epoch", "1"),
        ("in process, runs on a failing disk", "2,500"),
        ("  write: EIO", "2,400"),
        ("  crash", "100"),
    } <= rows
    data = json.loads((tmp_path / "seed-7.json").read_text())
    assert data["bits_flipped"] == report.flips
    assert data["in_process"] == report.in_process
    assert data["seconds"] == LIMIT_S


def test_a_seed_also_plays_faults_in_process(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(program, "BUILD", tmp_path)
    assert program.passes(7, faults=0, only=None, in_process=200)
    data = json.loads((tmp_path / "seed-7.json").read_text())
    assert data["in_process"].keys() == program.IN_PROCESS.keys()
    assert all(sum(faults.values()) >= 100 for faults in data["in_process"].values())
    assert data["seconds"] > 0


def test_a_seed_that_takes_too_long_is_told_and_is_no_failure(report: Report) -> None:
    assert "TOO SLOW" not in report.text()
    report.seconds = LIMIT_S + 90
    assert "in 62 minutes: TOO SLOW, the limit is 60\n" in report.text()
    assert report.findings == []
    assert "no difference: every row once and right" in report.text()


def test_a_problem_is_a_failure(report: Report) -> None:
    report.problems.append("files: no bit was flipped in any leases/#-#")
    assert report.findings == report.problems
    assert "FAILED; once more with: make test-chaos SEED=7 FAULTS=2\n" in report.text()
