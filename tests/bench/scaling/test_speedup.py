"""Throughput over cores and aggregators: known exponents come out."""

import pytest

from benchmarks._scaling.speedup import jobs, speedup, words
from benchmarks._scaling.store import Measured, Row

POINTS = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 4))


def measured(points, rate) -> Measured:
    rows = [
        Row("job", f"{cores} cores", "", float(size), 1_000, [1_000 / rate(cores, size)], [1.0])
        for cores, size in points
    ]
    return Measured([*rows, Row("job", "epochs, 2 cores", "", 2.0, 40, [1.0], [1.0])], {})


def test_exponents_come_out_as_they_went_in() -> None:
    found = speedup(measured(POINTS, lambda cores, size: 5_000 * cores**0.9 * size**-0.1))
    assert found is not None
    assert found.exponents == pytest.approx({"cores": 0.9, "aggregators": -0.1})
    assert max(found.halves.values()) < 1e-6
    assert found.at(2, 4) == pytest.approx(5_000 * 2**0.9 * 4**-0.1)


def test_epochs_are_no_jobs() -> None:
    found = jobs(measured(POINTS, lambda cores, size: 1.0))
    assert {cores: [row.at for row in rows] for cores, rows in found.items()} == {
        1: [1, 2],
        2: [1, 2, 4],
    }


@pytest.mark.parametrize("points", [(), POINTS[:2], POINTS[:3]])
def test_too_few_points_have_no_growth(points) -> None:
    assert speedup(measured(points, lambda cores, size: 1.0)) is None


@pytest.mark.parametrize(
    ("exponent", "text"),
    [
        (-0.3, "falls"),
        (-0.07, "hardly changes"),
        (0.05, "hardly changes"),
        (0.5, "less than linear"),
        (0.93, "about linear"),
        (1.5, "more than linear"),
    ],
)
def test_the_words(exponent: float, text: str) -> None:
    assert words(exponent) == text
