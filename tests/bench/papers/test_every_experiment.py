"""A tiny version of each experiment: all systems run it, and give the same answers."""

from pathlib import Path

import pytest

from bench.papers.here import HereWorkerPool
from benchmarks import page
from benchmarks._papers import claims, store
from benchmarks._papers.experiment import FOLDER, load
from benchmarks._papers.measure import TINY, measured, points
from benchmarks._papers.store import Measured


@pytest.fixture(scope="module")
def pool():
    return HereWorkerPool()


def all_of_it(experiment, pool, folder: Path) -> Measured:
    told = []
    rows = measured(experiment, TINY, pool, told.append)  # raises where answers differ
    found = Measured(tuple(rows), store.about("tiny", TINY.limit, 2**30, TINY.repeats))
    assert len(told) == points([experiment], TINY)
    assert len(rows) == len(told) * len(experiment.systems)
    assert {row.status for row in rows} <= {"ended", "cannot"}
    for system in experiment.systems:
        assert any(row.status == "ended" for row in rows if row.system == system), (
            f"{system} can express none of it: "
            f"{next(row.reason for row in rows if row.system == system)}"
        )
    for line in claims.lines([experiment], found):
        assert all((line.paper, line.figure, line.says, line.measured, line.why))
    for figure in experiment.figures:
        shown = [row.shown(figure.shows) for row in found.of(experiment.name, figure.sweep)]
        assert any(shown), f"no system has `{figure.shows}`, which {figure.name} shows"
    page.papers([experiment], found, ".").write(folder, "papers")
    for figure in experiment.figures:
        assert (folder / f"{figure.name}.svg").read_bytes().startswith(b"<?xml")
    assert experiment.title in (folder / "papers.md").read_text(encoding="utf-8")
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_tiny_version(path: Path, pool, tmp_path: Path):
    all_of_it(load(path), pool, tmp_path)


def test_that_of_the_tests(odd: Path, pool, tmp_path: Path):
    found = all_of_it(load(odd / "odd-1.yaml"), pool, tmp_path)
    assert {row.status for row in found.rows} == {"ended"}
    assert len(list(tmp_path.glob("*.svg"))) == 4
