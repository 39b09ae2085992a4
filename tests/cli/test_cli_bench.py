"""`hamlet bench`: the benchmarks of a checkout."""

import json
from pathlib import Path

import pytest

from hamlet.cli import bench

QUICK = '''"""Measures next to nothing.

More about it.
"""

def run(progress):
    progress("measuring")
    return {"ratio": 1.5, "events": 10}
'''
TABLE = """
def table(result):
    return [{"case": "a", "times": result["ratio"]}, {"case": "b", "times": 12345.678}]
"""


@pytest.fixture
def checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "quick.py").write_text(QUICK)
    (folder / "benchmarks" / "_helper.py").write_text("")
    monkeypatch.setattr(bench, "CHECKOUT", folder)
    return folder


def test_list(hamlet, checkout: Path):
    shown = hamlet("bench").stdout.splitlines()
    assert [line.split()[0] for line in shown[2:]] == ["quick"]
    assert "Measures next to nothing." in shown[2]


def test_json(hamlet, checkout: Path):
    done = hamlet("bench", "quick", "--json")
    assert json.loads(done.stdout) == {"ratio": 1.5, "events": 10}
    assert done.stderr == "measuring\n"


def test_what_was_measured_as_a_table(hamlet, checkout: Path):
    lines = hamlet("bench", "quick", "--quiet").output.splitlines()
    assert [line.split() for line in lines[2:]] == [["ratio", "1.5"], ["events", "10"]]


def test_a_table_of_its_own(hamlet, checkout: Path):
    (checkout / "benchmarks" / "quick.py").write_text(QUICK + TABLE)
    lines = hamlet("bench", "quick").stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["case", "times"],
        ["─" * (len(lines[1]) - 1)],
        ["a", "1.5"],
        ["b", "12,346"],
    ]


def test_unknown_name(hamlet, checkout: Path):
    done = hamlet("bench", "quik")
    assert done.exit_code == 1
    assert "did you mean `quick`?" in done.stderr


def test_no_way_out_of_the_folder(hamlet, checkout: Path):
    assert hamlet("bench", "../benchmarks/quick").exit_code == 1


def test_without_a_checkout(hamlet, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bench, "CHECKOUT", folder)
    done = hamlet("bench")
    assert done.exit_code == 1
    assert "part of the source checkout" in done.stderr
