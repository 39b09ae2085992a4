"""The mix of types follows `share`."""

from collections import Counter
from itertools import pairwise

import pytest

from runtime.generate import streams


@pytest.fixture
def shares(table):
    def count(name, events=200_000, **parameters):
        kinds = table(name, events=events, groups=100, **parameters)["type"].value_counts()
        return {entry["values"]: entry["counts"] / events for entry in kinds.to_pylist()}

    return count


@pytest.mark.parametrize("name", tuple(streams()))
def test_default_shares_are_those_of_the_catalogue(shares, name):
    assert shares(name) == pytest.approx(dict(streams()[name].share), abs=0.01)


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("ridesharing", {"Travel": 0.6, "Pickup": 0.1}),
        ("ridesharing", {"Travel": 0.8}),
        ("ridesharing", {"Cancel": 0.1}),
        ("ridesharing", {"Request": 0.6}),
        ("ridesharing", {"Surge": 0.0, "Pool": 0.0}),
        ("smarthome", {"Load": 0.5}),
        ("taxi", {"Travel": 0.6}),
        ("cluster", {"End": 0.3}),
        ("traffic", {"OakSt": 0.4}),
        ("purchases", {"Laptop": 0.45, "Phone": 0.0}),
        ("stock", {"Stock": 1.0}),
    ],
)
def test_given_shares_hold_from_start_to_end(shares, name, share):
    for events in (20_000, 200_000):
        measured = shares(name, events=events, share=share)
        for kind, wanted in share.items():
            assert measured.get(kind, 0.0) == pytest.approx(wanted, abs=0.02)


def test_other_types_keep_their_proportions(shares):
    default = streams()["ridesharing"].share
    measured = shares("ridesharing", share={"Travel": 0.4})
    expected = {kind: value * 0.6 / (1 - default["Travel"]) for kind, value in default.items()}
    expected["Travel"] = 0.4
    assert measured == pytest.approx(expected, abs=0.01)


def test_all_types_given(shares):
    share = {"Pickup": 0.25, "Travel": 0.5, "Dropoff": 0.25}
    assert shares("taxi", share=share, burst=2) == pytest.approx(share, abs=0.01)


def test_trips_keep_their_order_where_the_shares_allow_it(partitions):
    """Half of the travel is gone; after a pickup there is the ride, or what follows it."""
    during = ("Travel", "Stop", "Toll", "Dropoff")
    after = Counter()
    for events in partitions("ridesharing", events=30_000, groups=20, share={"Travel": 0.5}):
        kinds = [event["type"] for event in events]
        after.update(b for a, b in pairwise(kinds) if a == "Pickup")
    assert sum(after[kind] for kind in during) > 0.99 * after.total()
