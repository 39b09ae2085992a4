"""The streams hold what the queries of the papers look for, in their default 10,000 events."""

from itertools import pairwise

import pytest

from runtime.generate import generate, parse_spec


def holds(events, *conditions):
    """Whether the events have a subsequence that meets the conditions one after the other."""
    rest = iter(events)
    return all(any(condition(event) for event in rest) for condition in conditions)


def has(kind, /, **attributes):
    return lambda e: e["type"] == kind and all(e[key] == v for key, v in attributes.items())


def found(partitions, name, *conditions):
    return sum(holds(events, *conditions) for events in partitions(name, events=10_000))


def slow(event):
    return event["type"] == "Travel" and event["speed"] < 10


@pytest.mark.parametrize(
    "conditions",
    [
        (has("Request"), has("Travel")),
        (has("Request", kind="Pool"), has("Travel"), has("Dropoff")),
        (has("Request"), slow, has("Cancel")),
        (has("Pickup"), has("Travel"), has("Dropoff")),
    ],
)
def test_ridesharing(partitions, conditions):
    assert found(partitions, "ridesharing", *conditions) > 20


def test_some_riders_are_never_picked_up(partitions):
    """q1 of HAMLET: a request, travel, and no pickup after it."""
    waiting = 0
    for events in partitions("ridesharing", events=10_000):
        pickups = [at for at, event in enumerate(events) if event["type"] == "Pickup"]
        requests = [at for at, event in enumerate(events) if event["type"] == "Request"]
        after = max(pickups, default=-1)
        waiting += any(
            event["type"] == "Travel" and any(request < at for request in requests)
            for at, event in enumerate(events)
            if at > after
        )
    assert waiting > 20


def test_a_trip_goes_from_request_through_travel_to_its_end(partitions):
    allowed = {
        "Pickup": {"Travel"},
        "Accept": {"Travel", "Cancel"},
        "Cancel": {"Request", "Refund"},
        "Dropoff": {"Pay", "Rate"},
    }
    for events in partitions("ridesharing", events=20_000):
        for before, after in pairwise(event["type"] for event in events):
            assert after in allowed.get(before, {after})
            assert after != "Dropoff" or before == "Travel"


def test_an_attribute_is_there_where_it_makes_sense(table):
    events = table("ridesharing", events=20_000).to_pylist()
    assert all((e["speed"] is not None) == (e["type"] == "Travel") for e in events)
    assert all(e["price"] > 0 for e in events if e["type"] in {"Quote", "Dropoff", "Pay", "Tip"})
    assert all(e["kind"] == "Pool" for e in events if e["type"] == "Pool")
    assert {e["kind"] for e in events} == {"Solo", "Pool", "Premium"}


def test_a_trip_has_one_kind(partitions):
    for events in partitions("ridesharing", events=20_000):
        for before, after in pairwise(events):
            assert after["type"] in {"Request", "Pool"} or after["kind"] == before["kind"]


def test_taxi(partitions):
    assert found(partitions, "taxi", has("Pickup"), has("Travel"), has("Dropoff")) > 50
    for events in partitions("taxi", events=10_000):
        for before, after in pairwise(events):
            if after["type"] == "Pickup":
                assert after["price"] == 3.0
                continue
            assert after["price"] >= before["price"]
            assert after["dropoff_location"] == before["dropoff_location"]


def test_smarthome_meters_only_go_up(partitions):
    for events in partitions("smarthome", events=20_000, groups=5):
        meter = [event["value"] for event in events if event["type"] == "Work"]
        assert meter == sorted(meter)
        assert all(0 <= e["value"] <= 3_000 for e in events if e["type"] == "Load")


def test_stock_has_down_trends_and_prices_stay_in_bounds(partitions):
    for events in partitions("stock", events=30_000, groups=3):
        prices = [event["price"] for event in events]
        assert 20 < min(prices) <= max(prices) < 1_100
        falls = sum(after < before for before, after in pairwise(prices))
        assert falls / len(prices) == pytest.approx(0.5, abs=0.05)
        assert len({event["sector"] for event in events}) == 1


def test_cluster_has_rising_and_other_jobs(partitions):
    rising = other = 0
    for events in partitions("cluster", events=10_000):
        ends = [at for at, event in enumerate(events) if event["type"] != "Load"]
        for first, last in pairwise(ends):
            cpu = [event["cpu"] for event in events[first + 1 : last]]
            rises = all(before < after for before, after in pairwise(cpu))
            rising += len(cpu) > 2 and rises
            other += len(cpu) > 2 and not rises
    assert rising > 100
    assert other > 100


def test_patients_go_from_slow_to_fast_at_rest(partitions):
    """q4 of COGRA, contiguous: below 60, one or more passive events, above 100."""
    changes = 0
    for events in partitions("patients", events=10_000):
        low = False
        for before, event in pairwise(events):
            changes += low and event["rate"] > 100
            low = event["kind"] == "passive" and (low or before["rate"] < 60)
    assert changes > 100


@pytest.mark.parametrize(
    "route",
    ["OakSt MainSt StateSt", "OakSt MainSt WestSt", "LindenSt ParkAve OakSt MainSt",
     "ParkAve OakSt MainSt WestSt", "MainSt StateSt", "EastPark ElmSt ParkAve",
     "ElmSt ParkAve GreenHill"],
)  # fmt: skip
def test_traffic(partitions, route):
    assert found(partitions, "traffic", *map(has, route.split())) > 50


@pytest.mark.parametrize(
    "items",
    ["Laptop Case Adapter Mouse", "Laptop Case KeyBoardProtector", "Monitor Laptop Case Adapter",
     "Laptop Case Phone ScreenProtector"],
)  # fmt: skip
def test_purchases(partitions, items):
    assert found(partitions, "purchases", *map(has, items.split())) > 30


def test_10_000_events_are_the_default():
    name, parameters = parse_spec("traffic")
    assert sum(batch.num_rows for batch in generate(name, **parameters)) == 10_000
