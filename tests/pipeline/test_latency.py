"""When the last event of a window arrived, against looking at every event."""

import numpy as np
import pyarrow as pa
import pytest

from runtime.language.parser import parse
from runtime.pipeline.latency import ArrivalTimes, joined, pane_of, panes_by_type, panes_in_order

TYPES = ["A", "B", "C", "D"]


def dictionary(names: list[str]) -> pa.DictionaryArray:
    return pa.array(names, pa.dictionary(pa.int32(), pa.string()))


@pytest.mark.parametrize("seed", range(40))
def test_against_every_event(seed: int):
    draw = np.random.default_rng(seed)
    pane = int(draw.choice([1, 5, 1_000]))
    known = ArrivalTimes(pane)
    seen: list[tuple[str, int, float]] = []
    for epoch in range(int(draw.integers(1, 8))):
        size = int(draw.integers(0, 30))
        times = draw.integers(-5_000, 5_000, size)  # in any order
        types = draw.choice(TYPES, size).tolist()
        half = size // 2
        parts = [(times[:half], types[:half]), (times[half:], types[half:])]
        known.add(
            joined(panes_by_type(t // pane, dictionary(n), {"A", "B", "C"}) for t, n in parts if n),
            float(epoch),
        )
        seen += [(n, int(t), float(epoch)) for n, t in zip(types, times, strict=True) if n != "D"]
    starts = pane * draw.integers(-5_000 // pane, 5_000 // pane, 20)
    ends = starts + pane * draw.integers(1, 2_000 // pane + 2, 20)
    for wanted in (["A"], ["A", "C"], ["D"], ["no such"]):
        found = known.of_windows(wanted, starts, ends)
        for start, end, arrived in zip(starts, ends, found, strict=True):
            came = [e for n, t, e in seen if n in wanted and start <= t < end]
            assert arrived == max(came, default=np.nan) or (np.isnan(arrived) and not came)


@pytest.mark.parametrize("seed", range(20))
def test_events_in_order(seed: int):
    """Where there are fewer panes than events, those between them count as well."""
    draw = np.random.default_rng(seed)
    times = np.sort(draw.integers(-10_000, 10_000, int(draw.choice([0, 1, 300, 20_000]))))
    for pane in (0, 1, 700, 50_000):
        found = panes_in_order(times, pane).get("", np.zeros(0)).tolist()
        wanted = sorted(set((times // pane).tolist())) if pane and len(times) else []
        assert set(wanted) <= set(found)
        assert found[:1] + found[-1:] == wanted[:1] + wanted[-1:]


def test_what_no_window_asks_for_is_forgotten():
    known = ArrivalTimes(10)
    for epoch in range(100):
        times = np.array([100 * epoch])
        known.add(panes_by_type(times // 10, dictionary(["A"]), {"A"}), float(epoch))
    known.drop(9_000)
    assert len(known._arrivals) == 10
    assert known.of_windows(["A"], np.array([9_500]), np.array([9_600])) == [95.0]


def test_a_pane_divides_all_windows_by_time():
    text = """
    QUERY a RETURN COUNT(*) PATTERN A+ WITHIN 60 s SLIDE 15 s
    QUERY b RETURN COUNT(*) PATTERN A+ WITHIN 100 s
    QUERY c RETURN COUNT(*) PATTERN A+ WITHIN 7 EVENTS
    """
    queries = parse(text)
    assert pane_of(queries) == 5_000_000
    assert pane_of([queries["c"]]) == 0
