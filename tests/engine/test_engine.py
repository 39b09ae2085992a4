"""The engine as a stream sees it: epochs, watermarks, late rows, queries that come and go."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from engine.streams import stream
from runtime.errors import HamletError, InputError, QueryError, WorkloadError
from runtime.pipeline.engine import Engine

SECOND = 1_000_000
QUERY = "QUERY q RETURN COUNT(*) AS n PATTERN A+ WITHIN 4 s"


def counted(results: dict[str, pa.Table], name: str = "q") -> list[tuple[int, float]]:
    table = results.get(name)
    return [] if table is None else [(r["window_start"], r["n"]) for r in table.to_pylist()]


def test_a_window_closes_when_the_watermark_passes_its_end() -> None:
    engine = Engine(QUERY)
    assert engine.process(stream("a1 a2 a5")) == {}
    assert counted(engine.advance(4 * SECOND - 1)) == []
    assert counted(engine.advance(4 * SECOND)) == [(0, 3.0)]
    assert counted(engine.finish()) == [(4, 1.0)]


def test_the_watermark_can_be_a_datetime() -> None:
    engine = Engine(QUERY)
    engine.process(stream("a1"))
    assert counted(engine.advance(datetime(1970, 1, 1, 0, 0, 4, tzinfo=UTC))) == [(0, 1.0)]


def test_events_ahead_of_the_watermark_are_put_in_order() -> None:
    engine = Engine(QUERY.replace("A+", "SEQ(A, B)"))
    engine.process(stream("b3 a1"))
    engine.process(stream("a2"))
    assert counted(engine.finish()) == [(0, 2.0)]


def test_rows_behind_the_watermark_are_late_and_kept() -> None:
    engine = Engine(QUERY, lateness=1 * SECOND)
    engine.process(stream("a1 a3"))
    engine.process(stream("a1 a2"))  # the watermark is at 2: a1 is late, a2 is not
    assert counted(engine.finish()) == [(0, 7.0)]
    assert engine.late_rows == 1
    assert engine.take_late()["__time__"].to_pylist() == [1 * SECOND]
    assert engine.take_late().num_rows == 0


def test_lateness_makes_every_batch_an_epoch() -> None:
    engine = Engine(QUERY, lateness=0)
    assert counted(engine.process(stream("a1 a4"))) == [(0, 1.0)]
    assert counted(engine.process(stream("a9"))) == [(4, 1.0)]


def test_bad_rows_are_kept_with_their_reason_and_good_rows_count() -> None:
    engine = Engine(QUERY)
    table = pa.table({"time": [1, None, 2], "type": ["A", "A", None]})
    engine.process(table)
    assert counted(engine.finish()) == [(0, 1.0)]
    dead = engine.take_dead()
    assert dead["reason"].to_pylist() == ["the time is null", "the type is null"]
    assert dead["row"].to_pylist() == [1, 2]


def test_null_keys_of_events_that_matter_are_counted() -> None:
    engine = Engine("RETURN COUNT(*) PATTERN A+ GROUP-BY g WITHIN 4 s")
    engine.process(stream("a1 a2 z3", g=["u", None, None]))
    engine.finish()
    assert engine.null_keys == {"g": 1}


def test_an_added_query_reports_windows_after_all_events_so_far() -> None:
    engine = Engine(QUERY)
    engine.process(stream("a1 a2", x=[1, 2]))
    engine.add("QUERY later RETURN SUM(A.x) AS n PATTERN A WITHIN 4 s SLIDE 2 s")
    engine.process(stream("a3 a5", x=[10, 20]))
    results = engine.finish()
    assert counted(results) == [(0, 7.0), (4, 1.0)]
    assert counted(results, "later") == [(4, 20.0)]


def test_a_query_added_with_other_keys_and_another_window() -> None:
    engine = Engine(QUERY)
    engine.process(stream("a1", g=["u"]))
    engine.add("QUERY later RETURN g, COUNT(*) AS n PATTERN A+ GROUP-BY g WITHIN 2 events")
    engine.process(stream("a2 a3 a4", g=["u", "u", "v"]))
    assert counted(engine.finish(), "later") == [(0, 3.0)]


def test_other_queries_do_not_notice_adds_and_removes() -> None:
    engine = Engine(QUERY)
    engine.process(stream("a1"))
    engine.add("QUERY passing RETURN COUNT(*) AS n PATTERN A WITHIN 4 s")
    engine.process(stream("a2"))
    engine.remove("passing")
    engine.process(stream("a3"))
    results = engine.finish()
    assert counted(results) == [(0, 7.0)]
    assert "passing" not in results


def test_a_query_that_does_not_fit_is_refused_and_nothing_changes() -> None:
    engine = Engine("QUERY q RETURN COUNT(*) AS n PATTERN A+ WHERE A.x > 1 WITHIN 4 s")
    engine.process(stream("a1", x=[2]))
    with pytest.raises(HamletError, match="already exists"):
        engine.add(QUERY)
    with pytest.raises(QueryError, match="used as text here"):
        engine.add("QUERY r RETURN COUNT(*) PATTERN A WHERE A.x = 'u' WITHIN 4 s")
    with pytest.raises(WorkloadError, match="no attribute `y`"):
        engine.add("QUERY r RETURN COUNT(*) PATTERN A WHERE A.y > 1 WITHIN 4 s")
    with pytest.raises(HamletError, match="no query is called"):
        engine.remove("other")
    assert counted(engine.finish()) == [(0, 1.0)]


def test_a_watermark_before_the_first_batch_holds() -> None:
    engine = Engine(QUERY)
    engine.advance(100 * SECOND)
    engine.process(stream("a1 a2"))
    assert engine.late_rows == 2


def test_nothing_is_taken_after_the_end() -> None:
    engine = Engine(QUERY)
    engine.process(stream("a1"))
    engine.finish()
    for call in (lambda: engine.process(stream("a2")), lambda: engine.advance(9 * SECOND)):
        with pytest.raises(HamletError, match="has finished"):
            call()


def test_a_removed_query_no_longer_needs_its_columns() -> None:
    engine = Engine(QUERY + " QUERY x RETURN SUM(A.x) PATTERN A WITHIN 4 s")
    engine.remove("x")
    engine.process(stream("a1"))
    engine.add("QUERY y RETURN COUNT(*) AS n PATTERN A WITHIN 4 s")
    engine.process(stream("a2"))
    assert counted(engine.finish()) == [(0, 3.0)]


def test_late_rows_from_before_and_after_an_add_are_kept_together() -> None:
    engine = Engine(QUERY, lateness=0)
    engine.process(stream("a5", x=[5]))
    engine.process(stream("a1", x=[1]))
    engine.add("QUERY y RETURN SUM(A.x) PATTERN A WITHIN 4 s")
    engine.process(stream("a2", x=[2]))
    assert engine.take_late()["x"].to_pylist() == [None, 2]
    assert engine.take_late().schema.names == ["__time__", "__type__", "x"]


def test_an_add_keeps_counters_and_what_times_in_text_turned_out_to_be() -> None:
    engine = Engine(QUERY)
    engine.process(pa.table({"time": ["1", "no time"], "type": ["A", "A"]}))
    engine.add("QUERY y RETURN COUNT(*) AS n PATTERN A WITHIN 4 s")
    engine.process(pa.table({"time": ["2024-01-01T00:00:00Z"], "type": ["A"]}))
    assert engine.preparer.rows == 3
    assert engine.preparer.dead.total() == 2
    assert counted(engine.finish()) == [(0, 1.0)]


@pytest.mark.parametrize("watermark", ["x", 1.5, True, None])
def test_a_watermark_that_is_no_time_is_refused_and_changes_nothing(watermark: object) -> None:
    engine = Engine(QUERY)
    engine.process(stream("a1"))
    with pytest.raises(HamletError, match="the watermark is"):
        engine.advance(watermark)  # type: ignore[arg-type]
    assert counted(engine.advance(4 * SECOND)) == [(0, 1.0)]


@pytest.mark.parametrize("options", [{"lateness": -1}, {"time_unit": "h"}, {"ties": "no"}])
def test_options_are_checked_at_once(options: dict) -> None:
    with pytest.raises(HamletError, match="must be"):
        Engine(QUERY, **options)


def test_an_attribute_that_the_input_does_not_have_is_refused_with_its_place() -> None:
    engine = Engine("RETURN COUNT(*) PATTERN A WHERE A.speed > 1 WITHIN 4 s")
    with pytest.raises(WorkloadError, match="did you mean `sped`"):
        engine.process(stream("a1", sped=[2]))


def test_a_window_finer_than_the_times_is_refused() -> None:
    engine = Engine("RETURN COUNT(*) PATTERN A WITHIN 500 ms")
    with pytest.raises(WorkloadError, match="whole seconds"):
        engine.process(stream("a1"))


def test_a_missing_time_column_is_refused() -> None:
    with pytest.raises(InputError, match="no column `time`"):
        Engine(QUERY).process(pa.table({"tim": [1], "type": ["A"]}))


def test_state_is_gone_when_windows_are_closed() -> None:
    engine = Engine("RETURN COUNT(*) PATTERN A+ WHERE [g] WITHIN 4 s", lateness=0)
    for second in range(50):
        table = {"time": [second], "type": ["A"], "g": [second]}
        engine.process(pa.table(table))
    assert engine.open_windows() <= 2


def test_results_leave_in_the_type_the_times_came_in() -> None:
    times = pa.array([datetime(2024, 1, 1, tzinfo=UTC)], pa.timestamp("ms", "UTC"))
    engine = Engine(QUERY)
    engine.process(pa.table({"time": times, "type": ["A"]}))
    table = engine.finish()["q"]
    assert table.schema.field("window_start").type == pa.timestamp("ms", "UTC")
    assert table["window_start"][0].as_py() == datetime(2024, 1, 1, tzinfo=UTC)


def test_keys_that_are_times_leave_as_they_came() -> None:
    day = pa.array([datetime(2024, 1, 2), None], pa.timestamp("us"))
    engine = Engine("QUERY q RETURN day, COUNT(*) AS n PATTERN A GROUP-BY day WITHIN 4 s")
    engine.process(pa.table({"time": [1, 2], "type": ["A", "A"], "day": day}))
    assert engine.finish()["q"]["day"].to_pylist() == [None, datetime(2024, 1, 2)]


def test_windows_end_while_a_large_batch_is_taken():
    """Keys that live for one short window: memory is that of open windows, also where all events
    come at once."""
    size = 400_000
    table = pa.table(
        {
            "time": np.arange(size),
            "type": np.where(np.arange(size) % 2, "B", "A"),
            "key": np.arange(size) // 2,
        }
    )
    query = "RETURN key, COUNT(*) PATTERN SEQ(A, B+) GROUP-BY key WITHIN 200 us"
    engine = Engine(query, time_unit="us")
    engine.process(table)
    assert engine.finish()["q1"].num_rows == size // 2
    assert engine.state_bytes() < 200 * size / 4
