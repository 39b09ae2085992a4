"""`hamlet bench learning`: what it says of a figure, and that all of it runs, on few events."""

import pytest

from benchmarks import learning
from benchmarks.learning import Times


def test_a_row_says_whether_the_target_is_met() -> None:
    rows = learning.table(
        {
            "events": 10,
            "all_kinds_fixed_splitting_over_best": 2.0,
            "all_kinds_from_every_too_dear_over_best": 1.05,
            "windows_from_pane_too_dear_over_best": 1.2,
            "windows_correlation": 0.8,
            "all_kinds_correlation": 0.95,
        }
    )
    assert [tuple(row.values())[2:] for row in rows] == [
        ("", ""),
        ("", ""),
        ("at most 1.1", "yes"),
        ("at most 1.1", "no"),
        ("", ""),
        ("at least 0.9", "yes"),
    ]


def test_ratios_are_to_the_best_fixed_policy_of_the_same_repeat() -> None:
    repeats = [
        Times({"sharing": 2.0, "splitting": 4.0}, {"dear": 2.2}, [0.95, 0.91], [0.99]),
        Times({"sharing": 6.0, "splitting": 5.0}, {"dear": 5.0}, [0.92], [0.98, 0.97]),
        Times({"sharing": 1.0, "splitting": 2.0}, {"dear": 1.5}, [0.99], []),
    ]
    found = learning.figures(repeats)
    assert found["from_dear_over_best"] == pytest.approx(1.1)
    assert found["fixed_splitting_over_best"] == pytest.approx(2.0)
    assert found["correlation"] == 0.92
    assert found["means_correlation"] == 0.97


@pytest.mark.slow
def test_every_stream_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "EVENTS", 20_000)
    monkeypatch.setattr(learning, "REPEATS", 1)
    said: list[str] = []
    result = learning.run(said.append)
    assert len(said) == len(learning.STREAMS)
    assert learning.table(result)
