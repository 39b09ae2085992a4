"""Checkpoints: what is refused, and what happens to a workload that has changed."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from engine.lives import Tables
from engine.streams import stream
from runtime.errors import HamletError
from runtime.pipeline.engine import Engine

SECOND = 1_000_000
QUERY = "QUERY q RETURN COUNT(*) AS n PATTERN A+ WITHIN 9 s"
OTHER = "QUERY r RETURN SUM(A.x) AS n PATTERN A WITHIN 9 s SLIDE 3 s"


@pytest.fixture(params=["float", "exact"])
def numeric(request: pytest.FixtureRequest) -> str:
    return request.param


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
    return [(row["window_start"], float(row["n"])) for row in results[name].to_pylist()]


def test_a_restored_engine_goes_on(numeric: str) -> None:
    engine = restored(saved(numeric=numeric), numeric=numeric)
    engine.process(stream("a5", x=[5]))
    assert counts(engine.finish()) == [(0, 15.0)]


def test_events_behind_the_saved_watermark_are_late(numeric: str) -> None:
    engine = restored(saved(numeric=numeric), numeric=numeric)
    engine.process(stream("a2", x=[2]))
    assert engine.late_rows == 1


def test_the_layout_of_the_text_does_not_matter(numeric: str) -> None:
    spaced = QUERY.replace(" ", "\n  ") + " -- the same"
    engine = restored(saved(numeric=numeric), spaced, numeric=numeric)
    assert counts(engine.finish()) == [(0, 7.0)]


# ---- a workload that has changed -----------------------------------------------------------


def test_a_new_query_counts_from_the_restart_on(numeric: str) -> None:
    engine = restored(saved(numeric=numeric), QUERY + "\n" + OTHER, numeric=numeric)
    engine.process(stream("a5 a6", x=[5, 6]))
    results = engine.finish()
    assert counts(results) == [(0, 31.0)]
    assert counts(results, "r") == [(6, 6.0)]


def test_a_query_that_is_gone_is_dropped(numeric: str) -> None:
    engine = restored(saved(QUERY + "\n" + OTHER, numeric=numeric), numeric=numeric)
    assert list(engine.finish()) == ["q"]


def test_a_changed_query_is_refused(numeric: str) -> None:
    with pytest.raises(HamletError, match="`q` is not the query of the checkpoint"):
        restored(saved(numeric=numeric), QUERY.replace("A+", "A"), numeric=numeric)


SHARED = [
    f"QUERY q{n} RETURN g, COUNT(*) AS n, MIN(B.x) AS low PATTERN {pattern} {where} "
    f"GROUP-BY g WITHIN {window}"
    for n, (pattern, where, window) in enumerate(
        [
            ("SEQ(A, B+)", "", "12 s SLIDE 4 s"),
            ("SEQ(A, B+, C)", "WHERE B.x > 2", "12 s"),
            ("SEQ(B+, C)", "WHERE B.x > 4", "6 s SLIDE 3 s"),
            ("SEQ(A, B+)", "WHERE B.x < NEXT(B).x", "12 s SLIDE 6 s"),
            ("SEQ(A, B+, NOT C)", "", "12 s SLIDE 4 s"),
            ("SEQ(A, B+)", "", "6 events SLIDE 2 events"),
            ("SEQ(A, B+)", "SEMANTICS skip-till-next-match", "12 s"),
        ]
    )
]
SHARED[6] = SHARED[6].replace("SEQ(A, B+) SEM", "SEQ(A, B+)\nSEM")
LONG = " ".join(f"{t}{k}" for k, t in enumerate("abbbcabbbbbcbbabcbbbbabbcb" * 2))
X = [(k * 7) % 11 for k in range(52)]
G = ["u" if k % 3 else "v" for k in range(52)]


def in_turn(texts: list[list[str]], numeric: str, **options: str) -> dict[str, pa.Table]:
    """A piece of the stream for each workload, with a restart in between; one that was there
    before goes on."""
    table, tables = stream(LONG, x=X, g=G), Tables()
    cuts = [table.num_rows * k // len(texts) for k in range(len(texts) + 1)]
    data = None
    for text, (start, stop) in zip(texts, pairwise(cuts), strict=True):
        engine = Engine("\n".join(text), numeric=numeric, **options)
        if data is not None:
            engine.restore(data)
        tables.collect(engine.process(table.slice(start, stop - start)))
        tables.collect(engine.advance(stop * SECOND))
        data = engine.checkpoint()
    tables.collect(engine.finish())
    return tables.joined()


def numbers(tables: dict[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    """Sorted, since windows of events come as they fill."""
    by = [("window_start", "ascending"), ("g", "ascending")]
    return {
        name: [{**row, "n": float(row["n"])} for row in table.sort_by(by).to_pylist()]
        for name, table in tables.items()
    }


@pytest.mark.parametrize("ties", ["strict", "arrival"])
def test_every_kind_of_query_through_restarts(ties: str) -> None:
    whole = numbers(in_turn([SHARED], "exact", ties=ties))
    assert len(whole) == len(SHARED)
    assert numbers(in_turn([SHARED] * 5, "exact", ties=ties)) == whole
    assert numbers(in_turn([SHARED] * 5, "float", ties=ties)) == whole


@pytest.mark.parametrize("moved", range(len(SHARED)))
def test_a_query_that_goes_or_comes_at_a_restart_leaves_the_others_alone(moved: int) -> None:
    """In a share group it changes what the others are evaluated with."""
    rest = [text for n, text in enumerate(SHARED) if n != moved]
    whole = numbers(in_turn([rest], "exact"))
    for texts in ([SHARED, rest, rest], [rest, SHARED, SHARED], [rest, SHARED, rest]):
        exact, found = numbers(in_turn(texts, "exact")), numbers(in_turn(texts, "float"))
        assert found == exact
        assert {name: found[name] for name in whole} == whole


# ---- where a checkpoint can be made --------------------------------------------------------


def test_after_every_event_and_every_watermark(numeric: str) -> None:
    text = "\n".join(SHARED)
    table, tables = stream(LONG, x=X, g=G), Tables()
    engine = Engine(text, numeric=numeric)
    for place in range(table.num_rows):
        tables.collect(engine.process(table.slice(place, 1)))
        engine = restored(engine.checkpoint(), text, numeric=numeric)
        if place % 5 == 4:
            tables.collect(engine.advance(place * SECOND))
            engine = restored(engine.checkpoint(), text, numeric=numeric)
    tables.collect(engine.finish())
    assert numbers(tables.joined()) == numbers(in_turn([SHARED], "exact"))


def test_a_checkpoint_changes_nothing_in_the_engine_that_makes_it(numeric: str) -> None:
    table, tables = stream(LONG, x=X, g=G), Tables()
    engine = Engine("\n".join(SHARED), numeric=numeric)
    for place in range(table.num_rows):
        tables.collect(engine.process(table.slice(place, 1)))
        tables.collect(engine.advance(place * SECOND))
        engine.checkpoint()
    tables.collect(engine.finish())
    assert numbers(tables.joined()) == numbers(in_turn([SHARED], "exact"))


def test_many_partitions_with_keys_of_every_kind(numeric: str) -> None:
    """Two thousand of them, more than there is first room for, half of them gone in between."""
    n = 2_000
    keys = {
        "k": [*range(n - 1), None],
        "t": [None, *(f"name {k}" for k in range(n - 1))],
        "d": [k / 2 if k % 7 else None for k in range(n)],
    }
    text = "QUERY q RETURN k, COUNT(*) AS n PATTERN SEQ(A, B+) WHERE [t, d] GROUP-BY k WITHIN 9 s"

    def piece(type_: str, start: int, first: int = 0) -> pa.Table:
        columns = {name: values[first:] for name, values in keys.items()}
        times = [start + k * 4 // n for k in range(n - first)]
        return pa.table({"time": times, "type": [type_] * (n - first), **columns})

    pieces = [piece("A", 0), piece("B", 4), piece("A", 9, n // 2), piece("B", 14, n // 2)]

    def run(change: Callable[[Engine], Engine]) -> list[dict[str, Any]]:
        tables, engine = Tables(), Engine(text, numeric=numeric)
        for each in pieces:
            tables.collect(engine.process(each))
            tables.collect(engine.advance(each["time"][-1].as_py() * SECOND))
            engine = change(engine)
        tables.collect(engine.finish())
        return tables.joined()["q"].to_pylist()

    kept = run(lambda engine: engine)
    assert len(kept) == n + n // 2
    assert run(lambda engine: restored(engine.checkpoint(), text, numeric=numeric)) == kept


# ---- what is refused -----------------------------------------------------------------------


def test_other_options_are_refused() -> None:
    with pytest.raises(HamletError, match="ties strict"):
        restored(saved(), ties="arrival")


@pytest.mark.parametrize(("one", "other"), [("float", "exact"), ("exact", "float")])
def test_other_numbers_are_refused(one: str, other: str) -> None:
    with pytest.raises(HamletError, match=f"has {one} numbers, this engine {other}"):
        restored(saved(numeric=one), numeric=other)


def test_sharing_may_be_another_one() -> None:
    """It changes how results are computed, not what they are."""
    engine = restored(saved(sharing="always"), sharing="never")
    assert counts(engine.finish()) == [(0, 7.0)]


def test_what_is_no_checkpoint_is_refused(numeric: str) -> None:
    whole = saved(numeric=numeric)
    with pytest.raises(HamletError, match="not a complete checkpoint"):
        restored(whole[: len(whole) // 2], numeric=numeric)
    with pytest.raises(HamletError, match="not a complete checkpoint"):
        restored(b"something else", numeric=numeric)


def test_another_format_is_refused() -> None:
    table = pa.ipc.open_file(saved()).read_all()
    older = {**table.schema.metadata, b"hamlet.checkpoint": b"1"}
    with pytest.raises(HamletError, match="has format 1, this version reads format 4"):
        restored(written(table.replace_schema_metadata(older)))


def test_a_damaged_part_is_refused(numeric: str) -> None:
    """One byte in the middle of any part."""
    table = pa.ipc.open_file(saved(QUERY + "\n" + OTHER, numeric=numeric)).read_all()
    place = table.schema.get_field_index("data")
    for row in range(table.num_rows):
        data = table["data"].to_pylist()
        middle = len(data[row]) // 2
        data[row] = data[row][:middle] + bytes([data[row][middle] ^ 1]) + data[row][middle + 1 :]
        field = table.schema.field(place)
        damaged = table.set_column(place, field, pa.array(data, field.type))
        with pytest.raises(HamletError, match="the checkpoint is damaged"):
            restored(written(damaged), numeric=numeric)


def written(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def test_only_a_new_engine_takes_up_a_checkpoint(numeric: str) -> None:
    engine = Engine(QUERY, numeric=numeric)
    engine.process(stream("a1"))
    with pytest.raises(HamletError, match="has seen no event"):
        engine.restore(saved(numeric=numeric))
    with pytest.raises(HamletError, match="nothing to save"):
        Engine(QUERY, numeric=numeric).checkpoint()


def test_times_in_text_keep_what_they_turned_out_to_be(numeric: str) -> None:
    def row(time: str) -> pa.Table:
        return pa.table({"time": [time], "type": ["A"]})

    engine = Engine(QUERY, numeric=numeric)
    engine.process(row("2024-01-01T00:00:01Z"))
    again = restored(engine.checkpoint(), numeric=numeric)
    table = again.finish()["q"]
    assert table.schema.field("window_start").type == pa.timestamp("us", "UTC")
