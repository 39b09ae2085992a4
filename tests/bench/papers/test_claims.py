"""The table of claims, the plots and the page, from measurements that are made up here."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import _words as words
from benchmarks import page
from benchmarks._papers import claims, plots
from benchmarks._papers.experiment import Ratio, Value, experiments
from benchmarks._papers.section import sections
from benchmarks._papers.store import Measured, Row
from runtime.errors import HamletError

ABOUT = {
    "date": "2026-01-01",
    "mode": "quick",
    "repeats": 3,
    "limits": {"seconds": 2.0, "memory_bytes": 6 * 2**30},
    "machine": {"cpu": "A CPU", "cores": 2, "memory_gb": 8.0, "system": "Linux"},
    "versions": {"hamlet": "1"},
}
HAMLET, OTHER = "hamlet", "hamlet-not-shared"


def row(x, system, seconds=(), status="ended", reason="", events=1_000):
    memory = 500 if seconds else None
    return Row(
        "odd-1", "queries", str(x), system, status, reason, seconds, seconds, 4, events, 5,
        memory, {"snapshots": (7.0,)} if seconds else {},
    )  # fmt: skip


ROWS = (
    row(5, HAMLET, (1.0, 1.2, 0.8)),
    row(5, OTHER, (3.0, 2.0, 4.0)),
    row(10, HAMLET, (0.1, 0.1, 0.1)),
    row(10, OTHER, (1.0, 1.0, 1.0)),
    row(20, HAMLET, (0.01, 0.01, 0.02)),
    row(20, OTHER, status="not ended", reason="did not end in 2 s"),
    row(50, HAMLET, (0.01, 0.01, 0.01)),
    row(50, OTHER, status="not tried", reason="did not end in 2 s at queries 20"),
)


@pytest.fixture
def experiment(odd: Path):
    return replace(experiments(odd)[0].only(["odd-1a", "odd-1b"]), systems=(HAMLET, OTHER))


def said(experiment, measure, rows=ROWS):
    claim = replace(experiment.claims[0], measure=measure)
    return claims.said(experiment, claim, Measured(rows, ABOUT))


def test_a_ratio_is_smallest_to_largest_and_more_than_the_limit_where_one_did_not_end(experiment):
    # 3 s over 1 s; 1 s over 0.1 s; more than 2 s over 0.01 s
    assert said(experiment, Ratio(OTHER, HAMLET, "latency")) == (
        "3 to 10 times (queries: 5 to 10); "
        "more than 200 times where hamlet-not-shared did not finish in 2 s (queries: 20)"
    )
    assert said(experiment, Ratio(HAMLET, OTHER, "latency")).startswith(
        "0.1 to 0.333 times (queries: 5 to 10); less than 0.005 times where hamlet-not-shared did"
    )
    assert said(experiment, Ratio(HAMLET, OTHER, "throughput")).startswith(
        "3 to 10 times (queries: 5 to 10); more than 200 times"
    )
    assert said(experiment, Ratio(OTHER, HAMLET, "throughput")).startswith(
        "0.1 to 0.333 times (queries: 5 to 10); less than 0.005 times"
    )


def test_what_is_not_bound_by_time_has_no_bound(experiment):
    assert said(experiment, Ratio(OTHER, HAMLET, "memory")) == "1 times (queries: 5 to 10)"
    assert said(experiment, Ratio(OTHER, HAMLET, "snapshots")) == "1 times (queries: 5 to 10)"


def test_a_value(experiment):
    most = Value(HAMLET, "throughput", "most")
    assert said(experiment, most) == "100,000 events/s (queries: 20)"
    assert said(experiment, replace(most, best="least")) == "1,000 events/s (queries: 5)"


def test_a_failure_is_told(experiment):
    failed = row(5, OTHER, status="failed", reason="out of memory")
    assert said(experiment, Ratio(OTHER, HAMLET, "latency"), (ROWS[0], failed)) == (
        "hamlet-not-shared failed at 5: out of memory"
    )


@pytest.mark.parametrize("rows", [(), ROWS[:1], (ROWS[0], row(5, OTHER, status="cannot"))])
def test_a_claim_of_which_nothing_was_measured_is_an_error(experiment, rows):
    with pytest.raises(HamletError, match="odd-1a: nothing was measured for the claim"):
        said(experiment, Ratio(OTHER, HAMLET, "latency"), rows)
    with pytest.raises(HamletError, match="nothing was measured"):
        said(experiment, Value(HAMLET, "nonsense", "most"), rows)


def test_latency_is_for_a_window(experiment):
    assert ROWS[0].shown("latency") == (0.25, 0.2, 0.3)
    assert ROWS[0].shown("throughput") == (1_000, pytest.approx(1_000 / 1.2), 1_250)
    assert ROWS[5].bound("latency", 2.0) == ("more", 0.5)
    assert ROWS[5].bound("throughput", 2.0) == ("less", 500)
    assert ROWS[5].bound("memory", 2.0) is None
    assert ROWS[7].bound("latency", 2.0) is None


def test_the_page(experiment):
    text = "\n".join(sections([experiment], Measured(ROWS, ABOUT), "images"))
    lines = text.splitlines()
    assert any(line.startswith("| ODD | [1a](#odd-figure-1a) | HAMLET over") for line in lines)
    assert "#### ODD, figure 1(a)" in lines
    assert "![latency over queries, by system](images/odd-1a.svg)" in lines
    assert "`hamlet bench papers --figure odd-1a --quick`" in text
    assert (
        "| 5 | 250 ms (200 ms to 300 ms), CPU 250 ms | 750 ms (500 ms to 1 s), CPU 750 ms |"
        in lines
    )
    assert "| 20 | 2.5 ms (2.5 ms to 5 ms), CPU 2.5 ms | more than 500 ms |" in lines
    assert "| 50 | 2.5 ms, CPU 2.5 ms | not tried |" in lines
    assert "A run that takes longer than 2 s is stopped" in text


def test_a_page_without_measurements_of_a_figure_is_an_error(experiment):
    with pytest.raises(HamletError, match="there are no measurements of odd-1a"):
        list(sections([replace(experiment, claims=())], Measured((), ABOUT), "images"))


def test_a_plot_is_the_same_for_the_same_measurements_and_draws_who_did_not_end(experiment):
    found = Measured(ROWS, ABOUT)
    drawn = plots.drawn(experiment, experiment.figures[0], found)
    assert drawn == plots.drawn(experiment, experiment.figures[0], found)
    text = drawn.decode()
    assert "ODD, figure 1(a): Bursts that change" in text
    assert "(not ended in 2 s)" in text
    assert "The paper: HAMLET over each query by itself, 2 to 9 times" in text
    assert "2026" not in text
    fewer = plots.drawn(experiment, experiment.figures[0], Measured(ROWS[:4], ABOUT)).decode()
    assert "(not ended in 2 s)" not in fewer


@pytest.mark.parametrize(
    ("value", "shows", "text"),
    [
        (0.01, "latency", "10 ms"),
        (2e6, "memory", "2 MB"),
        (5.0, "shared_percent", "5%"),
        (1e7, "throughput", "10M"),
        (2_500, "planned_snapshots", "2500"),
        (12_500, "planned_snapshots", "12.5k"),
        (0.5, "plan_score", "0.5"),
    ],
)
def test_ticks_have_units_and_little_room(value, shows, text):
    assert words.tick(value, shows) == text


@pytest.mark.parametrize(
    ("value", "shows", "text"),
    [
        (0.0123456, "latency", "12.3 ms"),
        (9.996, "latency", "10 s"),
        (4.2e-7, "latency", "0.42 µs"),
        (39_123_456, "throughput", "39.1 million events/s"),
        (12_345, "throughput", "12,300 events/s"),
        (2_500_000, "memory", "2.5 MB"),
        (0.002, "closing_seconds", "2 ms"),
        (2_000, "plan_bytes", "2 kB"),
        (0, "snapshots", "0"),
        (1234.5, "snapshots", "1,230"),
    ],
)
def test_numbers_have_three_digits(value, shows, text):
    assert words.shown(value, shows) == text


# ---- what is committed ---------------------------------------------------------------------


@pytest.mark.skipif(
    not (page.MEASURED / "papers.parquet").exists(), reason="nothing is measured yet"
)
def test_the_committed_page_is_made_from_the_committed_measurements():
    files = page.page()
    for path, content in files.items():
        there = (page.DOCS / path).read_bytes() if (page.DOCS / path).exists() else b""
        assert there == content, f"{path} is not what `make benchmarks` makes"
    assert page.stale(files) == []
