"""`hamlet bench engine`: what it says of a figure, and that all of it runs, on few events."""

import pytest

from benchmarks import engine


def test_a_row_says_whether_the_target_is_met() -> None:
    rows = engine.table(
        {
            "events": 10,
            "one_query_over_group_by": 1.2,
            "windows_60_over_1": 5.5,
            "queries_50_never_over_dynamic": 4.0,
            "decisions_share_of_time": None,
        }
    )
    assert [tuple(row.values()) for row in rows] == [
        ("events", 10, "", ""),
        ("one_query_over_group_by", 1.2, "at most 1.5", "yes"),
        ("windows_60_over_1", 5.5, "at most 5", "no"),
        ("queries_50_never_over_dynamic", 4.0, "at least 4", "yes"),
        ("decisions_share_of_time", "not measured", "at most 0.002", ""),
    ]


@pytest.mark.slow
def test_every_measure_with_a_target_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "EVENTS", 500)
    monkeypatch.setattr(engine, "REPEATS", 1)
    said: list[str] = []
    result = engine.run(said.append)
    assert len(said) == len(engine.MEASURES)
    missing = engine.TARGETS.keys() - result.keys()
    assert all(name.startswith("authors") for name in missing)  # their data may not be here
    assert engine.table(result)
