"""`hamlet bench`: the benchmarks of a checkout."""

import json
from dataclasses import fields
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


OPTIONS = """
def run(progress, figure=(), quick=False, output="nowhere"):
    progress.begin(2)
    progress.now("the first")
    progress.done("the first is done")
    progress.done("so is the second")
    return {"figure": list(figure), "quick": quick, "output": str(output)}
"""


def test_options_go_to_a_benchmark_that_has_them(hamlet, checkout: Path):
    (checkout / "benchmarks" / "papers.py").write_text(OPTIONS)
    done = hamlet(
        "bench",
        "papers",
        "--figure",
        "a-1",
        "--figure",
        "a-2",
        "--quick",
        "--output",
        "x",
        "--json",
    )
    assert json.loads(done.stdout) == {"figure": ["a-1", "a-2"], "quick": True, "output": "x"}
    assert json.loads(hamlet("bench", "papers", "--json", "--quiet").stdout) == {
        "figure": [],
        "quick": False,
        "output": "nowhere",
    }


def test_steps_are_lines_where_nobody_watches(hamlet, checkout: Path):
    (checkout / "benchmarks" / "papers.py").write_text(OPTIONS)
    assert hamlet("bench", "papers", "--json").stderr.splitlines() == [
        "1 of 2: the first is done",
        "2 of 2: so is the second",
    ]


@pytest.mark.parametrize("option", [["--figure", "a-1"], ["--quick"], ["--output", "x"]])
def test_a_benchmark_refuses_options_that_it_does_not_have(hamlet, checkout: Path, option):
    done = hamlet("bench", "quick", *option)
    assert done.exit_code == 1
    assert f"`hamlet bench quick` has no {option[0]}" in done.stderr


def test_a_file_that_runs_nothing_is_no_benchmark(hamlet, checkout: Path):
    (checkout / "benchmarks" / "page.py").write_text("def main(): ...\n")
    assert "page" not in hamlet("bench").stdout
    assert hamlet("bench", "page").exit_code == 1


def test_every_benchmark_and_option_is_documented():
    page = (bench.CHECKOUT / "docs" / "cli.md").read_text("utf-8")
    section = page.partition("\n## bench\n")[2].partition("\n## ")[0]
    for name in bench.benchmarks(bench.CHECKOUT):
        assert f"\n| `{name}` | " in section
    for flag in fields(bench.BenchFlags):
        assert f"\n| `--{flag.name}` | " in section
