"""`hamlet bench papers`: all of it, or some figures beside what was measured before."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import papers
from benchmarks._papers import experiment, store
from benchmarks._papers.measure import TINY
from hamlet.cli.progress import steps
from hamlet.cli.stderr import Notices
from runtime.errors import HamletError

clock = itertools.count(1)


def made_up(experiment, mode, pool, tell) -> list[store.Row]:
    """No time twice."""
    rows = [
        store.Row(
            experiment.name,
            sweep.name,
            str(x),
            system,
            "ended",
            "",
            seconds,
            seconds,
            1,
            10,
            1,
            8,
            {},
        )
        for sweep in experiment.sweeps.values()
        for x in sweep.values["tiny"]
        for system in experiment.systems
        for seconds in ((float(next(clock)),) * mode.repeats,)
    ]
    tell(rows)
    return rows


@pytest.fixture
def run(odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With the experiment of the tests and made-up times; gives what is told and what is kept."""
    monkeypatch.setattr(papers, "FULL", TINY)
    monkeypatch.setattr(papers, "QUICK", replace(TINY, repeats=2))
    monkeypatch.setattr(papers, "measured", made_up)
    found = experiment.readable(odd)
    monkeypatch.setattr(experiment, "readable", lambda: found)

    def run(*figures: str, **options):
        with steps(Notices(quiet=True)) as progress:
            told = papers.run(progress, figures, output=tmp_path, **options)
        return told, store.read(tmp_path / "papers.parquet")

    return run


def by_sweep(found: store.Measured) -> dict[str, list[store.Row]]:
    return {sweep: found.of("odd-1", sweep) for _, sweep in sorted(found.sweeps)}


def test_a_figure_replaces_its_own_rows_and_no_others(run, tmp_path: Path):
    _, whole = run()
    assert by_sweep(whole).keys() == {"kinds", "queries"}
    told, after = run("odd-2")
    assert {row["sweep"] for row in told["rows"]} == {"kinds"}
    assert after.of("odd-1", "queries") == whole.of("odd-1", "queries")
    assert after.of("odd-1", "kinds") != whole.of("odd-1", "kinds")
    assert len(after.rows) == len(whole.rows)
    text = (tmp_path / "papers.md").read_text(encoding="utf-8")
    assert all(f"odd-{figure}.svg" in text for figure in ("1a", "1b", "1c", "2"))


def test_a_figure_joins_those_before_it(run, tmp_path: Path):
    _, first = run("odd-2")
    assert by_sweep(first).keys() == {"kinds"}
    _, both = run("odd-1a")
    assert by_sweep(both).keys() == {"kinds", "queries"}
    assert both.of("odd-1", "kinds") == first.of("odd-1", "kinds")


def test_all_figures_replace_everything(run):
    _, first = run()
    _, second = run(quick=True)
    assert {len(row.seconds) for row in first.rows} == {1}
    assert {len(row.seconds) for row in second.rows} == {2}


def test_measurements_of_another_kind_are_not_mixed(run, tmp_path: Path):
    run()
    before = (tmp_path / "papers.parquet").read_bytes()
    with pytest.raises(HamletError, match="holds measurements with another repeats"):
        run("odd-2", quick=True)
    assert (tmp_path / "papers.parquet").read_bytes() == before


def test_days_are_told_from_the_first_to_the_last():
    first, second, third = (
        store.Measured((), {"date": f"2026-01-0{day}", "mode": "full"}) for day in (1, 2, 3)
    )
    both = first.with_(second)
    assert both.about["date"] == "2026-01-01 to 2026-01-02"
    assert both.with_(third).about["date"] == "2026-01-01 to 2026-01-03"
    assert first.with_(first).about["date"] == "2026-01-01"
    assert store.differ(first.about, second.about) == []
