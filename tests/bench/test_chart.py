"""Charts: the same bytes for the same data, and nothing that is cut off."""

from dataclasses import replace

import pytest

from benchmarks import _chart
from benchmarks._chart import Beyond, Chart, Look, Point, Series, svg

LOOK = Look("#d55e00", "v")
SERIES = Series("one", LOOK, [Point(1, 5, 4, 6), Point(100, 7, 6, 9)])
CHART = Chart(
    title="A title",
    x="events",
    y="time",
    names={1.0: "1", 100.0: "100"},
    tick=lambda value: f"{value:g} s",
    series=[SERIES],
)


def text(chart: Chart) -> str:
    return svg(chart).decode()


def test_the_same_data_gives_the_same_bytes_without_a_date() -> None:
    assert svg(CHART) == svg(CHART)
    assert "<dc:date>" not in text(CHART)
    assert all(line == line.rstrip() for line in text(CHART).splitlines())


def test_a_long_title_is_wrapped_and_not_cut() -> None:
    title = " ".join(["word"] * 30)
    drawn = text(replace(CHART, title=title))
    assert drawn.count("word") == text(CHART).count("word") + 30
    assert "…" not in drawn
    assert "word " * 20 not in drawn


def test_who_did_not_end_is_drawn_at_the_limit() -> None:
    late = replace(SERIES, beyond=[Beyond(1_000, 50)])
    drawn = text(replace(CHART, series=[late], names={**CHART.names, 1000.0: "1000"}))
    assert "stroke-dasharray" in drawn  # from where it ended last
    assert "stroke-dasharray" not in text(CHART)


@pytest.mark.parametrize(("log", "ticks"), [(False, ["0", "2 s", "10 s"]), (True, ["5 s", "10 s"])])
def test_ticks(log: bool, ticks: list[str]) -> None:
    drawn = text(replace(CHART, log=log))
    assert all(f">{each}</text>" in drawn for each in ticks)


def test_an_axis_is_logarithmic_where_values_differ_widely() -> None:
    wide = replace(SERIES, points=[Point(1, 1, 1, 1), Point(100, 10_000, 10_000, 10_000)])
    assert ">0</text>" in text(CHART)
    assert ">0</text>" not in text(replace(CHART, series=[wide]))


def test_a_curve_goes_through_points_that_are_not_joined() -> None:
    curved = replace(SERIES, curve=lambda x: 5 + x / 50)
    assert len(text(replace(CHART, series=[curved]))) > len(text(CHART))


def test_nothing_to_draw_is_told() -> None:
    assert "nothing to draw" in text(replace(CHART, series=[replace(SERIES, points=[])]))


def test_names_that_would_touch_go_a_line_lower() -> None:
    names = {10.0: "10", 12.0: "12", 14.0: "14", 70.0: "70"}
    assert _chart._apart(names) == {10.0: "10", 12.0: "\n12", 14.0: "14", 70.0: "70"}
    assert _chart._apart({1.0: "1"}) == {1.0: "1"}
    assert _chart._apart({}) == {}
