"""Run lengths follow `burst`, whatever the partitions and shares."""

from itertools import groupby, pairwise

import numpy as np
import pytest

from runtime.generate import streams

# Streams with several types; in the others runs do not show in the type.
TYPED = [name for name, info in streams().items() if len(info.types) > 1]


@pytest.fixture(scope="session")
def runs(table):
    """The mean length of the runs of each type within partitions."""

    def measure(name, **parameters):
        events = table(name, **parameters)
        keys = [codes(events[key]) for key in streams()[name].partition]
        order = np.lexsort(keys)
        kinds = codes(events["type"])[order]
        types = events["type"].combine_chunks().unique().to_pylist()
        moved = [np.diff(values[order]) != 0 for values in keys]
        changed = np.any(moved, axis=0)
        # The first and the last run of a partition are cut off by the stream: left out.
        starts = np.flatnonzero(changed | (kinds[1:] != kinds[:-1])) + 1
        first = changed[starts - 1]
        whole = ~first[:-1] & ~first[1:]
        lengths, found = np.diff(starts)[whole], kinds[starts[:-1]][whole]
        return {types[code]: lengths[found == code].mean() for code in np.unique(found)}

    return measure


def codes(column):
    return np.array(column.combine_chunks().dictionary_encode().indices)


@pytest.mark.parametrize("burst", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("groups", [1, 20])
def test_travel_comes_in_bursts(runs, burst, groups):
    found = runs("ridesharing", events=60_000 + 3_000 * burst, burst=burst, groups=groups)
    assert found["Travel"] == pytest.approx(burst, rel=0.05)
    assert found["Pickup"] == 1


@pytest.mark.parametrize("burst", [5, 20, 50])
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_bursts_hold_with_shares(runs, burst, share):
    share = {"Travel": share}
    found = runs("ridesharing", events=300_000, burst=burst, groups=10, share=share)
    assert found["Travel"] == pytest.approx(burst, rel=0.05)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("smarthome", "Load"), ("taxi", "Travel"), ("cluster", "Load"),
     ("traffic", "MainSt"), ("purchases", "Laptop")],
)  # fmt: skip
@pytest.mark.parametrize("burst", [3, 12])
def test_every_stream_with_bursts(runs, name, kind, burst):
    found = runs(name, events=200_000, burst=burst, groups=15)
    assert found[kind] == pytest.approx(burst, rel=0.05)


@pytest.mark.parametrize("name", TYPED)
def test_default_burst_is_that_of_the_catalogue(runs, name):
    found = runs(name, events=200_000, groups=10)
    assert max(found.values()) == pytest.approx(streams()[name].burst, rel=0.05)


@pytest.mark.parametrize("burst", [2, 10])
def test_prices_move_one_way_in_bursts(partitions, burst):
    ways = []
    for events in partitions("stock", events=30_000, groups=10, burst=burst):
        prices = [event["price"] for event in events]
        rises = [after > before for before, after in pairwise(prices)]
        ways += [len(list(run)) for _, run in groupby(rises)][1:-1]
    assert np.mean(ways) == pytest.approx(burst, rel=0.1)


def test_longer_bursts_raise_the_share_of_travel_unless_it_is_given(table):
    def share(**parameters):
        kinds = table("ridesharing", events=30_000, **parameters)["type"].to_pylist()
        return kinds.count("Travel") / len(kinds)

    assert share(burst=2) < 0.45 < 0.9 < share(burst=50)
    assert share(burst=10, share={"Travel": 0.5}) == pytest.approx(0.5, abs=0.02)
    assert share(burst=50, share={"Travel": 0.5}) == pytest.approx(0.5, abs=0.04)
