"""The arithmetic that every kind of window has, and what its kind adds."""

import pyarrow as pa
import pytest

from runtime.language.window import WINDOW_KINDS, EventWindow, TimeWindow, Window, pane_of
from runtime.types.time_codec import TimeCodec

LENGTHS = [(1, 1), (5, 5), (5, 2), (6, 3), (7, 1)]


@pytest.mark.parametrize("kind", WINDOW_KINDS)
@pytest.mark.parametrize(("within", "slide"), LENGTHS)
def test_windows_that_hold_a_point(kind: type[Window], within: int, slide: int):
    window = kind(within, slide)
    for point in range(-20, 20):
        holding = [k for k in range(-40, 40) if window.start(k) <= point < window.end(k)]
        assert list(window.covering(point)) == holding
        assert len(holding) <= window.open_at_once
        later = [k for k in range(-40, 40) if window.start(k) >= point]
        assert window.first_from(point) == later[0]
        ended = [k for k in range(-40, 40) if window.end(k) <= point]
        assert window.last_until(point) == ended[-1]
    most = max(len(window.covering(point)) for point in range(20))
    assert (most, window.overlaps) == (window.open_at_once, most > 1)


def test_kinds_share_no_unit_and_are_never_equal():
    units = [unit for kind in WINDOW_KINDS for unit in kind.units]
    assert len(units) == len(set(units))
    assert len({kind(5, 5) for kind in WINDOW_KINDS}) == len(WINDOW_KINDS)


def test_bounds_of_times_have_the_type_of_the_times():
    start, end = TimeWindow(5_000_000, 2_000_000).bounds([0, 3], TimeCodec(pa.timestamp("ms")))
    assert start == pa.array([0, 6_000], pa.timestamp("ms"))
    assert end == pa.array([5_000, 11_000], pa.timestamp("ms"))


def test_bounds_of_events_are_the_first_and_the_last():
    start, end = EventWindow(5, 2).bounds([0, 3], None)
    assert (start.to_pylist(), end.to_pylist()) == ([0, 6], [4, 10])


def test_a_pane_divides_all_windows():
    assert pane_of([TimeWindow(12, 6), TimeWindow(20, 4)]) == 2
    assert pane_of([]) == 0
