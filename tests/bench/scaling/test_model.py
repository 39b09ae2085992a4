"""The capacity model's arithmetic, with parts that can be added up in one's head."""

from dataclasses import replace

import pytest

from benchmarks._scaling.costs import split
from benchmarks._scaling.model import Cost, Demand, Parts, between, engine, need
from runtime.errors import HamletError

LONG = {10: {1: 50.0, 1_000: 200.0}, 1_000: {1: 50.0, 1_000: 400.0}}
SHORT = {10: {1: 80.0, 1_000: 2_000.0}, 1_000: {1: 80.0, 1_000: 4_000.0}}
ALONE = {10: {1: 50.0, 1_000: 10_000.0}, 1_000: {1: 50.0, 1_000: 10_000.0}}
PARTS = Parts(
    spark=Cost(400.0, 40e6),
    router=Cost(100.0, 0.0),
    aggregator=Cost(100.0, 0.0),
    ray=Cost(50.0, 0.0),
    driver=Cost(20.0, 30e6),
    engine={True: {1: SHORT, 100: LONG}, False: {1: ALONE, 100: ALONE}},
    window={True: {1: 1e3, 1_000: 20e3}, False: {1: 1e3, 1_000: 20e3}},
    epoch_wall=50e6,
    driver_table=1e6,
    driver_row=1e3,
    block_bytes=40.0,
    portion_bytes=30.0,
    log_bytes=35.0,
    state_bytes={True: {1: 300.0, 1_000: 75_000.0}, False: {1: 600.0, 1_000: 80_000.0}},
    state_by_windows={1: 300.0, 10: 900.0},
    snapshot_over_state=1.5,
)
DEMAND = Demand(
    events=1e6,
    queries=1_000,
    shared=True,
    partitions=1_000,
    burst=100,
    groups=10,
    slide=10.0,
    load=0.5,
)


def test_cores_are_cpu_time_over_the_part_of_a_core_that_is_used() -> None:
    found = need(DEMAND, PARTS)
    # A million events of 400 ns and an epoch of 40 ms are 0.44 s a second: 0.88 cores at half load.
    assert found.spark_cores == pytest.approx(0.88)
    assert found.router_cores == pytest.approx(0.2)
    # 100 ns to take an event and 400 in the engine; 100 windows a second of 20 us.
    assert found.aggregator_cores == pytest.approx(2 * (0.5 + 0.002))
    assert found.ray_cores == pytest.approx(0.1)
    assert found.cores == pytest.approx(0.88 + 0.2 + 1.004 + 0.1)
    assert found.beyond == ()


def test_queries_that_do_not_share_need_more_aggregators_and_nothing_else() -> None:
    shared, alone = need(DEMAND, PARTS), need(replace(DEMAND, shared=False), PARTS)
    assert alone.aggregator_cores - shared.aggregator_cores == pytest.approx(2 * (10 - 0.4))
    assert alone.spark_cores == shared.spark_cores
    assert alone.state_bytes == pytest.approx(80_000 * 1_000)


def test_short_bursts_need_more_than_long_ones() -> None:
    assert engine(DEMAND, PARTS) == pytest.approx(400)
    assert engine(replace(DEMAND, burst=1), PARTS) == pytest.approx(4_000)
    # Half way of logarithms, in bursts and in partitions.
    assert engine(replace(DEMAND, burst=10), PARTS) == pytest.approx((400 * 4_000) ** 0.5)
    fewer = replace(DEMAND, partitions=100)
    assert engine(fewer, PARTS) == pytest.approx((200 * 400) ** 0.5)
    cores = [need(replace(DEMAND, burst=each), PARTS).cores for each in (100, 10, 1)]
    assert cores == sorted(cores)


def test_a_burst_is_met_as_far_as_an_epoch_brings_it() -> None:
    assert DEMAND.met == 100
    assert replace(DEMAND, partitions=100_000).met == 10
    assert replace(DEMAND, partitions=100_000, epoch=0.5).met == 5
    assert replace(DEMAND, partitions=10_000_000).met == 1


def test_what_was_not_measured_is_taken_as_the_last_point_and_told() -> None:
    many = replace(DEMAND, partitions=1_000_000)
    assert engine(many, PARTS) == pytest.approx(4_000)
    assert need(many, PARTS).beyond == ("partitions",)
    found = need(replace(DEMAND, queries=2_000, burst=200, windows=20), PARTS)
    assert found.beyond == ("queries", "bursts", "windows")


def test_windows_of_more_partitions_cost_more() -> None:
    one, many = (need(replace(DEMAND, partitions=each, burst=1), PARTS) for each in (10**3, 10**6))
    # 99,900 windows a second more, of 20 us, at half load.
    assert many.aggregator_cores - one.aggregator_cores == pytest.approx(2 * 99_900 * 20e-6)


def test_an_event_and_an_epoch_are_told_apart() -> None:
    # 5 ms for an epoch and 300 ns for an event: 3 epochs with a million, and one with a thousand.
    large, small = 3 * 5e6 + 1e6 * 300, 5e6 + 1_000 * 300
    found = split(large, small, 3, 1e6, 1_000)
    assert (found.event, found.epoch) == (pytest.approx(300), pytest.approx(5e6))
    assert split(1e6, 1e6, 3, 1e6, 1_000).event == 0  # less than its epochs alone


def test_the_driver() -> None:
    # 30 ms for an epoch of a second, 20 ns for an event; 100 tables a second of 1 ms and 10 rows
    # of 1 us.
    assert need(DEMAND, PARTS).driver_share == pytest.approx(0.03 + 0.02 + 0.1 + 0.001)
    assert need(replace(DEMAND, epoch=0.1), PARTS).driver_share == pytest.approx(0.3 + 0.121)
    assert need(DEMAND, PARTS).shortest_epoch == pytest.approx(0.05)


def test_bytes() -> None:
    found = need(DEMAND, PARTS)
    assert found.network_bytes == pytest.approx(70e6)
    assert found.log_bytes == pytest.approx(35e6)
    assert found.state_bytes == pytest.approx(75e6)
    assert found.snapshot_bytes == pytest.approx(1.5 * 75e6)
    assert need(replace(DEMAND, windows=10), PARTS).state_bytes == pytest.approx(3 * 75e6)
    assert need(replace(DEMAND, partitions=2_000), PARTS).state_bytes == pytest.approx(150e6)


def test_what_an_event_costs_grows_as_events_do() -> None:
    once = replace(DEMAND, events=1e6, epoch=1e9)  # an epoch of next to no cost
    one, two = need(once, PARTS), need(replace(once, events=2e6), PARTS)
    windows = 2 * 0.002
    assert two.cores - windows == pytest.approx(2 * (one.cores - windows))
    assert two.network_bytes == pytest.approx(2 * one.network_bytes)
    assert two.driver_share - one.driver_share == pytest.approx(0.02)
    assert two.state_bytes == one.state_bytes


def test_between_points_is_a_power_law() -> None:
    points = {1: 1.0, 100: 10.0, 10_000: 1_000.0}
    assert between(points, 100) == pytest.approx(10)
    assert between(points, 10) == pytest.approx(10**0.5)
    assert between(points, 1_000) == pytest.approx(100)
    assert between(points, 100_000) == pytest.approx(1_000)  # no further than was measured
    assert between({10: 2.0, 100: 20.0}, 1) == pytest.approx(2)
    with pytest.raises(HamletError, match="needs two"):
        between({1: 1.0}, 5)


@pytest.mark.parametrize("load", [0.0, 1.1, -1.0])
def test_a_core_is_used_in_part(load: float) -> None:
    with pytest.raises(HamletError, match="cannot be used"):
        need(replace(DEMAND, load=load), PARTS)


@pytest.mark.parametrize("name", ["events", "queries", "partitions", "burst", "windows"])
def test_a_demand_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(HamletError, match="a demand has"):
        need(replace(DEMAND, **{name: 0}), PARTS)
