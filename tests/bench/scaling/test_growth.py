"""The fitted growth: known exponents come out, and what cannot be fitted is refused."""

import math

import numpy as np
import pytest

from benchmarks._scaling.growth import fitted
from runtime.errors import HamletError

SIZES = (1, 3, 10, 30, 100, 300, 1_000)


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 0.5, 1.0, 2.0])
def test_a_power_law_comes_out_as_it_went_in(exponent: float) -> None:
    growth = fitted(SIZES, [7 * size**exponent for size in SIZES])
    assert growth.exponent == pytest.approx(exponent, abs=1e-9)
    assert growth.factor == pytest.approx(7)
    assert growth.half < 1e-6
    assert growth.residual < 1e-6


def test_noise_widens_the_interval_around_the_truth() -> None:
    draw = np.random.default_rng(1)
    inside = 0
    for _ in range(200):
        costs = [5 * size**0.7 * math.exp(draw.normal(0, 0.2)) for size in SIZES]
        growth = fitted(SIZES, costs)
        inside += abs(growth.exponent - 0.7) <= growth.half
    assert 0.88 * 200 <= inside <= 200  # an interval of 95 %


@pytest.mark.parametrize(
    ("words", "cost"),
    [
        ("constant", lambda size: 30 + 0.0 * size),
        ("logarithmic", lambda size: 30 + 8 * math.log(size)),
        ("linear", lambda size: 30 + 2.0 * size),
        ("hardly grows below 200, then linear", lambda size: 199 + 0.2 * size),
        ("falling", lambda size: 30 / size),
    ],
)
def test_the_word(words: str, cost) -> None:
    assert fitted(SIZES, [cost(size) for size in SIZES]).words == words


@pytest.mark.parametrize("cost", [lambda size: 46 + 4 * math.log(size), lambda size: 90 + size])
def test_a_cost_that_has_hardly_grown_is_not_called_by_its_form(cost) -> None:
    sizes = (2, 4, 8, 12, 16)
    assert fitted(sizes, [cost(size) for size in sizes]).words == "hardly grows"


def test_a_form_that_does_not_fit_is_said_to_be_rough_and_where() -> None:
    growth = fitted((1, 5, 20, 60, 120), (31.5, 40.2, 42.2, 73.1, 166))
    assert growth.form == "linear"
    assert growth.words == "roughly: linear"
    assert growth.worst == 120
    assert growth.away == pytest.approx(1 - growth.at(120) / 166)
    assert fitted(SIZES, [30 + 2.0 * size for size in SIZES]).away < 1e-9


def test_a_fixed_cost_beside_a_growing_one_is_linear_with_both_of_them() -> None:
    growth = fitted(SIZES, [100 + 2.0 * size for size in SIZES])
    assert (growth.fixed, growth.rate) == (pytest.approx(100), pytest.approx(2))
    assert growth.exponent < 0.7  # which alone would mislead


@pytest.mark.parametrize(
    "cost",
    [
        lambda size: 30 + 0 * size,
        lambda size: 30 + 8 * math.log(size),
        lambda size: 30 + 2.0 * size,
        lambda size: 30 / size,
    ],
)
def test_the_curve_goes_through_the_points(cost) -> None:
    growth = fitted(SIZES, [cost(size) for size in SIZES])
    assert [growth.at(size) for size in SIZES] == pytest.approx([cost(size) for size in SIZES])


def test_the_order_of_points_does_not_matter() -> None:
    costs = [30 + size**0.5 for size in SIZES]
    assert fitted(SIZES[::-1], costs[::-1]).exponent == pytest.approx(fitted(SIZES, costs).exponent)


@pytest.mark.parametrize("sizes", [SIZES[:4], (1, 1, 2, 3, 4), ()])
def test_too_few_sizes_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(HamletError, match="needs 5 different sizes"):
        fitted(sizes, [1.0] * len(sizes))


def test_costs_of_nothing_are_refused() -> None:
    with pytest.raises(HamletError, match="above 0"):
        fitted(SIZES, [0.0, *SIZES[1:]])
