"""The report holds what the run said of itself; its plots show the numbers they are given."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hamlet.cli import app
from metrics.example_job import HOSTILE, after_epoch, collector, replanned
from runtime.report import plot
from runtime.report.log_reader import History, read_history
from runtime.report.number_format import at, count, nanoseconds, number, seconds
from runtime.report.report_page import report
from runtime.report.run_log import NAME, RunLog
from runtime.report.series import Series, Times, grown, rate, thinned

QUERIES = "QUERY q\nRETURN COUNT(*) AS n\nPATTERN SEQ(A, B+)\nWITHIN 10 seconds\n"


def line(time: float, events: int, began: float = 0.0) -> dict:
    return {"time": time, "began": began, "events": events}


# ---- curves out of totals ------------------------------------------------------------------


def test_a_new_run_counts_from_zero_again():
    times = Times([line(1, 10), line(2, 30), line(12, 5, 10.0), line(13, 9, 10.0)])
    assert grown(times, lambda each: each["events"]) == [10, 20, 5, 4]


def test_what_lasts_goes_on_where_the_run_before_ended():
    times = Times([line(1, 10), line(2, 30), line(12, 35, 10.0)])
    assert grown(times, lambda each: each["events"], lasting=True) == [10, 20, 5]


def test_rates_are_by_the_second():
    times = Times([line(2, 10), line(4, 30), line(4.5, 31)])
    assert rate(times, lambda each: each["events"]) == [5, 10, 2]


def test_long_runs_are_thinned_and_keep_their_ends():
    found = thinned([line(n, n) for n in range(10_000)])
    assert len(found.lines) <= 242
    assert (found.lines[0]["time"], found.lines[-1]["time"]) == (0, 9_999)


# ---- plots ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("high", "wanted"),
    [(7, [0, 2, 4, 6, 8]), (0.9, [0, 0.25, 0.5, 0.75, 1.0]), (1_000, [0, 250, 500, 750, 1_000])],
)
def test_ticks_are_round_and_reach_the_top(high: float, wanted: list[float]):
    assert plot.ticks(0, high) == pytest.approx(wanted)


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(f"<div>{svg}</div>")


def test_a_gap_stays_a_gap():
    series = [Series("x", [1.0, 2.0, None, 3.0, 4.0])]
    found = parsed(plot.curves("What", [0, 1, 2, 3, 4], series, number, at))
    assert [len(each.get("points").split()) for each in found.iter("polyline")] == [2, 2]
    assert len(list(found.iter("circle"))) == 4


def test_heights_are_in_proportion_from_zero():
    found = parsed(plot.columns("What", ["a", "b", "c"], [10.0, 20.0, 40.0], number))
    heights = [float(each.get("height")) for each in found.iter("rect")]
    assert heights == pytest.approx([heights[0], 2 * heights[0], 4 * heights[0]], rel=0.01)


def test_bars_stand_on_each_other():
    both = [Series("a", [1.0, 1.0]), Series("b", [2.0, 2.0])]
    found = parsed(plot.stacked("What", [0, 1], both, number, at))
    drawn = [each for each in found.iter("rect") if each.get("y")]  # the key has some, too
    bars = [(float(each.get("y")), float(each.get("height"))) for each in drawn]
    for (lower, _), (upper, height) in zip(bars[::2], bars[1::2], strict=True):
        assert upper + height == pytest.approx(lower, abs=0.2)
        assert height == pytest.approx(2 * bars[0][1], rel=0.01)


def test_a_version_does_not_slope():
    series = [Series("v", [1.0, 3.0])]
    found = parsed(plot.curves("What", [0, 1], series, count, at, steps=True))
    (points,) = (each.get("points").split() for each in found.iter("polyline"))
    xs, ys = zip(*(map(float, point.split(",")) for point in points), strict=True)
    assert all(xs[n] == xs[n + 1] or ys[n] == ys[n + 1] for n in range(len(points) - 1))


def test_nothing_measured_is_said():
    assert "nothing was measured" in plot.curves("What", [], [], number, at)
    assert "nothing was measured" in plot.columns("What", ["a"], [0.0], number)


def test_text_in_plots_is_escaped():
    parsed(plot.columns(HOSTILE, [HOSTILE], [1.0], number))


# ---- numbers -------------------------------------------------------------------------------


def test_numbers_are_written_for_people():
    assert [seconds(x) for x in (None, 2e-5, 0.0042, 1.5, 600, 9_000)] == [
        "–",
        "20 µs",
        "4.2 ms",
        "1.5 s",
        "10.0 min",
        "2.5 h",
    ]
    assert [nanoseconds(x) for x in (12, -12, 25_000, -25_000)] == [
        "12 ns",
        "-12 ns",
        "25 µs",
        "-25 µs",
    ]
    assert [at(x) for x in (1.25, 75, 3_700)] == ["1.2 s", "1:15", "1:01:40"]


# ---- the page ------------------------------------------------------------------------------


def history(folder: Path, names: tuple[str, ...] = ("one", "two"), **other: object) -> History:
    kept, log = collector(names), RunLog(folder, lasting=True)
    for epoch in range(3):
        log.update(replanned(after_epoch(kept, epoch, names, **other), epoch, HOSTILE))
        log._last = 0.0  # as if a second had gone by
    log.close()
    return read_history(folder)


def test_the_page_needs_nothing_else(tmp_path: Path):
    text = report(history(tmp_path))
    assert "script" not in re.sub(r"script-src '[^']*'", "", text)
    assert not re.search(r"(src|href)=.?(http|//)", text)
    assert "default-src 'none'" in text


def test_text_from_outside_is_escaped(tmp_path: Path):
    text = report(history(tmp_path, (HOSTILE, "two"), invalid_rows={HOSTILE: 2}, late=3))
    assert "<img" not in text
    assert text.count("&lt;img src=x") >= 4, "a query, its group, why it was re-planned, a reason"


def test_a_real_run_and_what_it_printed(tmp_path: Path):
    (tmp_path / "queries.sase").write_text(QUERIES)
    rows = ["time,type", *(f"{n},{'AB'[n % 3 > 0]}" for n in range(3_000)), "soon,A"]
    (tmp_path / "events.csv").write_text("\n".join(rows))
    results, page = tmp_path / "results", tmp_path / "report.html"
    run = ["run", f"{tmp_path}/queries.sase", "--input", f"{tmp_path}/events.csv"]
    run += ["--engine", "local", "--output", str(results)]
    done = CliRunner().invoke(app, run)
    assert done.exit_code == 0, done.output
    last = json.loads((results / NAME).read_text().splitlines()[-1])
    assert last["finished"]
    assert last["events"] == 3_000
    made = CliRunner().invoke(app, ["report", str(results), "--output", str(page)])
    assert made.exit_code == 0, made.output
    tiles = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page.read_text()))
    assert tiles["events"] == "3,000"
    assert tiles["results"] == "300"
    assert tiles["invalid rows"] == "1"
    assert tiles["ended"] == "yes"


def test_a_damaged_line_is_told(tmp_path: Path):
    history(tmp_path)
    with (tmp_path / NAME).open("a") as file:
        file.write("{")
    made = CliRunner().invoke(app, ["report", str(tmp_path), "-o", str(tmp_path / "r.html")])
    assert made.exit_code == 0
    assert "the last line of the log is damaged and was skipped" in made.output
    assert "is damaged" in (tmp_path / "r.html").read_text()


def test_no_run_is_an_error(tmp_path: Path):
    made = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert made.exit_code == 1
    assert "_run.jsonl does not exist" in made.output
