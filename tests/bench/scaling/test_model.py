"""The capacity model's arithmetic, with parts that can be added up in one's head."""

from dataclasses import replace

import pytest

from benchmarks._scaling.model import Demand, Parts, between, need
from runtime.errors import HamletError

PARTS = Parts(
    spark=400.0,
    router=100.0,
    aggregator={True: {1: 50.0, 1_000: 200.0}, False: {1: 50.0, 1_000: 5_000.0}},
    envelope=2.0,
    ray=50.0,
    driver_epoch=30e6,
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
    events=1e6, queries=1_000, shared=True, partitions=1_000, groups=10, slide=10.0, load=0.5
)


def test_cores_are_cpu_time_over_the_part_of_a_core_that_is_used() -> None:
    found = need(DEMAND, PARTS)
    # A million events of 400 ns are 0.4 s of CPU time a second: 0.8 cores at half load.
    assert found.spark_cores == pytest.approx(0.8)
    assert found.router_cores == pytest.approx(0.2)
    assert found.aggregator_cores == pytest.approx(2 * 0.4)
    assert found.ray_cores == pytest.approx(0.1)
    assert found.cores == pytest.approx(1.9)


def test_queries_that_do_not_share_need_more_aggregators_and_nothing_else() -> None:
    shared, alone = need(DEMAND, PARTS), need(replace(DEMAND, shared=False), PARTS)
    assert alone.aggregator_cores == pytest.approx(25 * shared.aggregator_cores)
    assert alone.spark_cores == shared.spark_cores
    assert alone.state_bytes == pytest.approx(80_000 * 1_000)


def test_the_driver() -> None:
    # 30 ms for an epoch of a second; 100 tables a second of 1 ms and 10 rows of 1 us.
    assert need(DEMAND, PARTS).driver_share == pytest.approx(0.03 + 0.1 + 0.001)
    assert need(replace(DEMAND, epoch=0.1), PARTS).driver_share == pytest.approx(0.3 + 0.101)
    assert need(DEMAND, PARTS).shortest_epoch == pytest.approx(0.05)


def test_bytes() -> None:
    found = need(DEMAND, PARTS)
    assert found.network_bytes == pytest.approx(70e6)
    assert found.log_bytes == pytest.approx(35e6)
    assert found.state_bytes == pytest.approx(75e6)
    assert found.snapshot_bytes == pytest.approx(1.5 * 75e6)
    assert need(replace(DEMAND, windows=10), PARTS).state_bytes == pytest.approx(3 * 75e6)
    assert need(replace(DEMAND, partitions=2_000), PARTS).state_bytes == pytest.approx(150e6)


def test_everything_but_the_driver_and_the_state_grows_as_events_do() -> None:
    one, two = need(DEMAND, PARTS), need(replace(DEMAND, events=2e6), PARTS)
    assert two.cores == pytest.approx(2 * one.cores)
    assert two.network_bytes == pytest.approx(2 * one.network_bytes)
    assert (two.state_bytes, two.driver_share) == (one.state_bytes, one.driver_share)


def test_between_points_is_a_power_law() -> None:
    points = {1: 1.0, 100: 10.0, 10_000: 1_000.0}
    assert between(points, 100) == pytest.approx(10)
    assert between(points, 10) == pytest.approx(10**0.5)
    assert between(points, 1_000) == pytest.approx(100)
    assert between(points, 100_000) == pytest.approx(10_000)  # goes on as the last two do
    assert between({10: 2.0, 100: 20.0}, 1) == pytest.approx(0.2)
    with pytest.raises(HamletError, match="needs two"):
        between({1: 1.0}, 5)


@pytest.mark.parametrize("load", [0.0, 1.1, -1.0])
def test_a_core_is_used_in_part(load: float) -> None:
    with pytest.raises(HamletError, match="cannot be used"):
        need(replace(DEMAND, load=load), PARTS)


@pytest.mark.parametrize("name", ["events", "queries", "partitions", "windows"])
def test_a_demand_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(HamletError, match="a demand has"):
        need(replace(DEMAND, **{name: 0}), PARTS)
