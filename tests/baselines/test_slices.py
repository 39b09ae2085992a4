"""Events of one partition in one window, and what is stored in those that are open."""

import numpy as np

from baselines.judging import check
from benchmarks.baselines.peaks import peak
from benchmarks.baselines.slices import cut
from oracle.model import Event, Leaf, Plus, Query
from oracle.model import Window as Drawn
from oracle.random_cases import Case
from runtime.language.window import TimeWindow


def cuts(
    times: list[int], slots: list[int], window: TimeWindow
) -> list[tuple[int, int, list[int]]]:
    found = cut(np.array(times), np.array(slots), window)
    return [
        (int(found.slot[i]), int(found.window[i]), found.order[found.begins[i] : found.ends[i]])
        for i in range(len(found))
    ]


def test_windows_of_each_partition() -> None:
    #            0    5    10   15
    # slot 0:    a         c             windows of 10, every 5
    # slot 1:       b           d
    found = cuts([0, 3, 10, 15], [0, 1, 0, 1], TimeWindow(10, 5))
    assert [(slot, k, list(places)) for slot, k, places in found] == [
        (0, -1, [0]), (0, 0, [0]), (0, 1, [2]), (0, 2, [2]),
        (1, -1, [1]), (1, 0, [1]), (1, 2, [3]), (1, 3, [3]),
    ]  # fmt: skip


def test_windows_without_an_event_cost_nothing() -> None:
    year = 365 * 86_400_000_000
    found = cuts([0, year], [0, 0], TimeWindow(3, 2))
    assert [(k, list(places)) for _, k, places in found] == [
        (-1, [0]), (0, [0]), (year // 2 - 1, [1]), (year // 2, [1]),
    ]  # fmt: skip
    events = (Event(0, "A", {"x": 1}), Event(year, "A", {"x": 1}))
    case = Case((Query(Plus(Leaf("A")), window=Drawn(3, 2)),), events, "strict", {"x": "int"})
    assert all(check(name, case) for name in ("greta", "cogra", "sase"))


def test_windows_that_are_open_at_once_count_together() -> None:
    window, stored = np.array([0, 0, 1, 2, 7]), np.array([1, 2, 10, 100, 50])
    assert peak(window, stored, TimeWindow(10, 10)) == 100
    assert peak(window, stored, TimeWindow(10, 5)) == 110
    assert peak(window, stored, TimeWindow(11, 5)) == 113
    assert peak(window[:0], stored[:0], TimeWindow(10, 5)) == 0


def test_the_same_of_windows_that_are_far_apart() -> None:
    window, stored = np.array([10**9, 0, 1, 0, 10**9 + 2]), np.array([100, 1, 10, 2, 50])
    assert peak(window, stored, TimeWindow(10, 5)) == 100
    assert peak(window, stored, TimeWindow(11, 5)) == 150
