"""Checkpoints: what is refused, and what happens to a workload that has changed."""

import pyarrow as pa
import pytest

from engine.streams import stream
from runtime.engine import Engine
from runtime.errors import HamletError

SECOND = 1_000_000
QUERY = "QUERY q RETURN COUNT(*) AS n PATTERN A+ WITHIN 9 s"
OTHER = "QUERY r RETURN SUM(A.x) AS n PATTERN A WITHIN 9 s SLIDE 3 s"


def saved(text: str = QUERY, **options: str) -> bytes:
    engine = Engine(text, **options)
    engine.process(stream("a1 a2 a4", x=[1, 2, 4]))
    engine.advance(3 * SECOND)  # a4 waits
    return engine.checkpoint()


def restored(data: bytes, text: str = QUERY, **options: str) -> Engine:
    engine = Engine(text, **options)
    engine.restore(data)
    return engine


def counts(results: dict[str, pa.Table], name: str = "q") -> list[tuple[int, float]]:
    return [(row["window_start"], row["n"]) for row in results[name].to_pylist()]


def test_a_restored_engine_goes_on() -> None:
    engine = restored(saved())
    engine.process(stream("a5", x=[5]))
    assert counts(engine.finish()) == [(0, 15.0)]


def test_events_behind_the_saved_watermark_are_late() -> None:
    engine = restored(saved())
    engine.process(stream("a2", x=[2]))
    assert engine.late_rows == 1


def test_the_layout_of_the_text_does_not_matter() -> None:
    spaced = QUERY.replace(" ", "\n  ") + " -- the same"
    assert counts(restored(saved(), spaced).finish()) == [(0, 7.0)]


def test_a_new_query_counts_from_the_restart_on() -> None:
    engine = restored(saved(), QUERY + "\n" + OTHER)
    engine.process(stream("a5 a6", x=[5, 6]))
    results = engine.finish()
    assert counts(results) == [(0, 31.0)]
    assert counts(results, "r") == [(6, 6.0)]


def test_a_query_that_is_gone_is_dropped() -> None:
    engine = restored(saved(QUERY + "\n" + OTHER))
    assert list(engine.finish()) == ["q"]


def test_a_changed_query_is_refused() -> None:
    with pytest.raises(HamletError, match="`q` is not the query of the checkpoint"):
        restored(saved(), QUERY.replace("A+", "A"))


def test_other_options_are_refused() -> None:
    with pytest.raises(HamletError, match="ties strict"):
        restored(saved(), ties="arrival")


def test_a_damaged_checkpoint_is_refused() -> None:
    whole = saved()
    with pytest.raises(HamletError, match="no checkpoint"):
        restored(whole[: len(whole) // 2])
    with pytest.raises(HamletError, match="no checkpoint"):
        restored(b"something else")
    place = whole.index(b'"count') if b'"count' in whole else whole.index(b"partial")
    damaged = whole[:place] + b"P" + whole[place + 1 :]
    with pytest.raises(HamletError, match="damaged"):
        restored(damaged)


def test_only_a_new_engine_takes_up_a_checkpoint() -> None:
    engine = Engine(QUERY)
    engine.process(stream("a1"))
    with pytest.raises(HamletError, match="has seen no event"):
        engine.restore(saved())
    with pytest.raises(HamletError, match="nothing to save"):
        Engine(QUERY).checkpoint()


def test_times_in_text_keep_what_they_turned_out_to_be() -> None:
    def row(time: str) -> pa.Table:
        return pa.table({"time": [time], "type": ["A"]})

    engine = Engine(QUERY)
    engine.process(row("2024-01-01T00:00:01Z"))
    again = restored(engine.checkpoint())
    table = again.finish()["q"]
    assert table.schema.field("window_start").type == pa.timestamp("us", "UTC")
