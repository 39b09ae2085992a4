"""What the engine gets to see, and what goes to the dead letters instead."""

import json
import math
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from runtime.errors import InputError
from runtime.pipeline.normalize import Preparer
from runtime.types.attribute_kinds import AttributeKind, fits, kind_of
from runtime.types.columns import TIME, TYPE

NUMBER, TEXT, BOOL, ANY = (
    AttributeKind.NUMBER,
    AttributeKind.TEXT,
    AttributeKind.BOOL,
    AttributeKind.ANY,
)


def batch(rows=3, **columns):
    own = {"time": list(range(rows)), "type": ["A"] * rows}
    return pa.record_batch({**own, **columns})


def prepared(data, **uses):
    return Preparer(uses=uses).prepare(data)


def column(data, use, name="x"):
    return prepared(batch(len(data), **{name: data}), **{name: use}).events.column(name)


def test_events_have_time_type_and_the_used_attributes_in_order():
    out = prepared(batch(2, b=["u", "v"], a=[1.5, None], c=[1, 2]), b=TEXT, a=NUMBER)
    assert out.events.schema.names == [TIME, TYPE, "a", "b"]
    assert out.events.to_pylist() == [
        {TIME: 0, TYPE: "A", "a": 1.5, "b": "u"},
        {TIME: 1_000_000, TYPE: "A", "a": None, "b": "v"},
    ]
    assert not out.events.schema.field(TIME).nullable
    assert not out.events.schema.field(TYPE).nullable
    assert out.dead.num_rows == 0


def test_attributes_may_be_called_time_and_type():
    out = prepared(batch(2), time=NUMBER, type=TEXT).events
    assert out.schema.names == [TIME, TYPE, "time", "type"]
    assert out.column("time").to_pylist() == [0, 1]
    assert out.column(TIME).to_pylist() == [0, 1_000_000]


@pytest.mark.parametrize("data_type", [pa.int8(), pa.int32(), pa.uint8(), pa.uint32()])
def test_integers_stay_integers(data_type):
    assert column(pa.array([1, None], data_type), NUMBER).equals(pa.array([1, None], pa.int64()))


def test_uint64_stays_uint64():
    values = pa.array([2**64 - 1, None], pa.uint64())
    assert column(values, NUMBER).equals(values)


def test_floats_become_doubles():
    for data_type in (pa.float16(), pa.float32(), pa.float64()):
        values = pa.array([np.float16(0.5), None], data_type)
        assert column(values, NUMBER).equals(pa.array([0.5, None]))


DECIMALS = ((pa.decimal32, 9), (pa.decimal64, 18), (pa.decimal128, 38), (pa.decimal256, 76))


@pytest.mark.parametrize(("make", "most"), DECIMALS)
def test_decimals_become_the_nearest_doubles(make, most):
    """Python's division of whole numbers is the judge: it rounds once."""
    chance = random.Random(most)
    for precision in range(1, most + 1):
        digits = [some_digits(chance, precision) for _ in range(50)]
        for scale in (0, 1, precision, 22, 23, -2, -40, chance.randrange(precision)):
            column_type = make(precision, scale)
            given = pa.array([*digits, None], make(precision, 0))
            nearest = [each * 10 ** max(-scale, 0) / 10 ** max(scale, 0) for each in digits]
            found = column(given.view(column_type), NUMBER).to_pylist()
            assert found == [*nearest, None], column_type


def some_digits(chance: random.Random, precision: int) -> int:
    """A number of at most so many digits, often between two doubles or beside such a number."""
    between = (2 * chance.randrange(2**52, 2**53) + 1) << chance.randrange(0, 200)
    near = between + chance.choice([-1, 0, 1])
    anything = chance.randrange(10 ** chance.randint(1, precision))
    fits = near < 10**precision and chance.random() < 0.8
    return chance.choice([-1, 1]) * (near if fits else anything)


def test_every_packing_of_text_becomes_string():
    for values in (
        pa.array(["a", None], pa.large_string()),
        pa.array(["a", None], pa.string_view()),
        pa.array(["a", None]).dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays([1, 2], pa.array(["a", None])),
    ):
        assert column(values, TEXT).equals(pa.array(["a", None]))
        assert column(values, ANY).equals(pa.array(["a", None]))


def test_nan_becomes_null():
    assert column(pa.array([math.nan, 1.0, None]), NUMBER).to_pylist() == [None, 1.0, None]
    assert column(pa.array([math.nan, 1.0], pa.float32()), ANY).to_pylist() == [None, 1.0]


def test_a_column_of_nulls_fits_every_use():
    kinds = {"a": NUMBER, "b": TEXT, "c": BOOL, "d": ANY}
    out = prepared(batch(2, **dict.fromkeys(kinds, pa.nulls(2))), **kinds).events
    types = [out.schema.field(name).type for name in kinds]
    assert types == [pa.float64(), pa.string(), pa.bool_(), pa.string()]


def test_types_of_events_are_cast_to_string():
    for types in (
        pa.array([1, 2, 1]),
        pa.array(["1", "2", "1"]).dictionary_encode(),
        pa.array([1, 2, 1], pa.int8()).dictionary_encode(),
    ):
        assert prepared(batch(type=types)).events.column(TYPE).to_pylist() == ["1", "2", "1"]


def test_bad_rows_go_to_the_dead_letters_with_their_reason():
    data = pa.record_batch(
        {
            "time": ["1", None, "x", "4", "5", "6"],
            "type": ["A", "A", "A", None, "A", "A"],
            "v": [1.0, 2.0, 3.0, 4.0, math.inf, math.nan],
        }
    )
    preparer = Preparer(uses={"v": NUMBER})
    out = preparer.prepare(data, source="a.csv")
    assert out.events.column(TIME).to_pylist() == [1_000_000, 6_000_000]
    assert out.dead.drop_columns("event").to_pylist() == [
        {"source": "a.csv", "row": 1, "reason": "the time is null"},
        {"source": "a.csv", "row": 2, "reason": "the time is not valid"},
        {"source": "a.csv", "row": 3, "reason": "the type is null"},
        {"source": "a.csv", "row": 4, "reason": "`v` is infinite"},
    ]
    assert json.loads(out.dead["event"][3].as_py()) == {"time": "5", "type": "A", "v": "Infinity"}
    assert preparer.rows == 6
    assert preparer.dead["the type is null"] == 1
    assert preparer.dead.total() == 4


def test_a_time_out_of_range_is_dead():
    data = pa.record_batch({"time": pa.array([2**62, 1]), "type": ["A", "A"]})
    out = Preparer().prepare(data)
    assert out.dead["reason"].to_pylist() == ["the time is out of range"]
    assert out.events.num_rows == 1


def test_a_row_with_two_faults_dies_once():
    data = pa.record_batch({"time": pa.array([None], pa.int64()), "type": pa.array([None])})
    assert Preparer().prepare(data).dead["reason"].to_pylist() == ["the time is null"]


def test_rows_count_on_over_batches():
    preparer = Preparer()
    bad = pa.record_batch({"time": pa.array([0, None]), "type": ["A", "A"]})
    assert preparer.prepare(bad).dead["row"].to_pylist() == [1]
    assert preparer.prepare(bad).dead["row"].to_pylist() == [3]


def test_the_reader_says_which_rows_these_are_and_how_they_looked():
    bad = pa.record_batch({"time": pa.array([0, None]), "type": ["A", "A"]})
    rows = np.array([10, 20])
    out = Preparer().prepare(bad, "f", rows, lambda indices: [f"line {i}" for i in indices])
    assert out.dead.to_pylist() == [
        {"source": "f", "row": 20, "reason": "the time is null", "event": "line 1"}
    ]


def test_dead_letters_hold_the_whole_row_whatever_its_types():
    data = pa.table(
        {
            "time": pa.array([None], pa.timestamp("ns")),
            "type": ["A"],
            "at": pa.array([1_500], pa.timestamp("ns", "UTC")),
            "day": pa.array([1], pa.date32()),
            "far": pa.array([10**18], pa.timestamp("us")),
            "list": [[1.0, math.inf]],
            "struct": [{"a": b"\xff"}],
            "price": [Decimal("1.5")],
            "text": pa.array(["x"]).dictionary_encode(),
            "nan": [math.nan],
        }
    )
    (event,) = Preparer().prepare(data).dead["event"].to_pylist()
    row = json.loads(event)
    assert row["at"] == "1970-01-01T00:00:00.000001500Z"
    assert row["day"] == "1970-01-02"
    assert row["list"] == [1.0, "Infinity"]
    assert row["struct"] == {"a": "\\xff"}
    assert row["text"] == "x"
    assert row["nan"] is None
    assert row["time"] is None


def test_tables_of_many_chunks_and_slices():
    chunks = [batch(2, x=[1, 2]), batch(3, x=[3, 4, 5]).slice(1)]
    out = prepared(pa.Table.from_batches(chunks), x=NUMBER).events
    assert out.column("x").to_pylist() == [1, 2, 4, 5]
    assert out.column(TIME).to_pylist() == [0, 1_000_000, 1_000_000, 2_000_000]
    assert prepared(batch(0, x=pa.array([], pa.int64())), x=NUMBER).events.num_rows == 0
    assert prepared(batch(0, x=pa.array([], pa.int64())).schema.empty_table()).events.num_rows == 0


@pytest.mark.parametrize("missing", ["time", "type"])
def test_a_missing_time_or_type_column_is_refused_with_what_there_is(missing):
    names = {"time": "Time", "type": "typ"} | {"x": "x"}
    kept = {"time": "time", "type": "type", missing: names[missing]}
    data = pa.record_batch({name: [1] for name in (*kept.values(), "other")})
    with pytest.raises(InputError) as caught:
        Preparer().prepare(data)
    text = caught.value.render()
    assert f"no column `{missing}`" in text
    assert f"did you mean `{names[missing]}`?" in text
    assert "`other`" in text
    assert f"--{missing}-column" in text


def test_duplicate_columns_are_refused():
    data = pa.RecordBatch.from_arrays([pa.array([1])] * 3, names=["time", "type", "time"])
    with pytest.raises(InputError, match="more than one column `time`"):
        Preparer().prepare(data)


def test_a_missing_attribute_is_refused_with_a_suggestion():
    with pytest.raises(InputError, match="`sped`") as caught:
        prepared(batch(speed=[1, 2, 3]), sped=NUMBER)
    assert "did you mean `speed`?" in caught.value.render()


@pytest.mark.parametrize(
    ("values", "use"),
    [
        (["a"], NUMBER),
        ([True], NUMBER),
        ([1], TEXT),
        ([1.5], BOOL),
        ([[1]], ANY),
        ([{"a": 1}], NUMBER),
        (pa.array([1], pa.timestamp("s")), NUMBER),
    ],
)
def test_a_typed_column_that_does_not_fit_its_use_is_refused(values, use):
    with pytest.raises(InputError, match="column `x`"):
        prepared(batch(1, x=values), x=use)


def test_nested_columns_that_nobody_uses_are_no_fault():
    assert prepared(batch(1, x=[[1]], y=[{"a": 1}])).events.num_rows == 1


def test_float_times_and_nested_types_are_refused():
    with pytest.raises(InputError, match="exactly"):
        prepared(batch(1, time=[1.5]))
    with pytest.raises(InputError, match="`type`"):
        prepared(batch(1, type=[["A"]]))


def test_bind_refuses_before_any_row_is_read():
    schema = pa.schema([("time", pa.int64()), ("type", pa.string()), ("x", pa.string())])
    with pytest.raises(InputError, match="`x`"):
        Preparer(uses={"x": NUMBER}).bind(schema)
    preparer = Preparer(uses={"x": TEXT})
    preparer.bind(schema)
    assert preparer.schema.names == [TIME, TYPE, "x"]
    assert preparer.clock.check_window(1, 1) is not None


def test_all_events_of_an_input_have_one_schema():
    preparer = Preparer(uses={"x": NUMBER})
    first = preparer.prepare(batch(1, x=[0.5])).events
    later = preparer.prepare(batch(1, x=[7])).events
    nulls = preparer.prepare(batch(1, x=pa.nulls(1))).events
    assert first.schema == later.schema == nulls.schema
    assert later.column("x").to_pylist() == [7.0]
    with pytest.raises(InputError, match="`x`"):
        preparer.prepare(batch(1, x=["seven"]))


def test_a_later_batch_of_another_meaning_is_refused():
    preparer = Preparer(uses={"x": ANY})
    preparer.prepare(batch(1, x=[7]))
    with pytest.raises(InputError, match="was int64 and is now timestamp"):
        preparer.prepare(batch(1, x=pa.array([7], pa.timestamp("s"))))
    with pytest.raises(InputError, match="was int64 and is now string"):
        preparer.prepare(batch(1, x=["7"]))


def test_kinds_of_arrow_types():
    assert kind_of(pa.decimal128(5, 2)) is NUMBER
    assert kind_of(pa.dictionary(pa.int8(), pa.string())) is TEXT
    assert kind_of(pa.bool_()) is BOOL
    assert kind_of(pa.timestamp("s")) is ANY
    assert fits(pa.run_end_encoded(pa.int32(), pa.string()), ANY)
    assert not fits(pa.list_(pa.int8()), ANY)
    assert fits(pa.null(), NUMBER)
