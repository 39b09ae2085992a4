"""What a text means does not depend on the texts beside it."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.types.iso_time import read_iso
from runtime.types.text_parse import parse

NUMBERS = "0|-1|+1| 7|007|0x1F|1e3|1.|.5|-.5e-3|nan|-inf|Infinity|1e999|1_000|١|-|+|.|e5|"
TIMES = "2020-01-01|2020-01-01T00:00:00Z|2020-01-01 10:00|2020-02-30|2020-01-01T24:00|20200101"
FINE_TIMES = "2020-01-01T00:00:00.123456789+05:30|1969-12-31T23:59:59.9999999"
ODD = [*NUMBERS.split("|"), *TIMES.split("|"), *FINE_TIMES.split("|"), "9" * 19, "9" * 400, "TRUE"]
TEXTS = st.one_of(st.none(), st.sampled_from(ODD), st.text("0123456789+-.eExX:TZ naif", max_size=8))
TARGETS = [pa.int64(), pa.float64(), pa.bool_(), pa.timestamp("us"), pa.timestamp("us", "UTC")]


@pytest.mark.parametrize("target", [*TARGETS, pa.timestamp("s"), pa.date32(), pa.string()], ids=str)
@given(texts=st.lists(TEXTS, max_size=8))
def test_a_column_is_read_as_each_of_its_values(target, texts):
    column = pa.array(texts, pa.string())
    values, wrong, beyond = parse(column, target)
    bad = wrong | beyond
    alone = [parse(column.slice(i, 1), target) for i in range(len(texts))]
    assert wrong.tolist() == [bool(each.wrong[0]) for each in alone]
    assert beyond.tolist() == [bool(each.beyond[0]) for each in alone]
    assert str(values.to_pylist()) == str([each.values[0].as_py() for each in alone])
    assert [v is None for v in values.to_pylist()] == [
        b or t is None for b, t in zip(bad, texts, strict=True)
    ]


@given(texts=st.lists(TEXTS, max_size=8))
def test_times_are_read_as_each_of_them(texts):
    column = pa.array(texts, pa.string())
    times = read_iso(column)
    alone = [read_iso(column.slice(i, 1)) for i in range(len(texts))]
    assert times.good.tolist() == [bool(each.good[0]) for each in alone]
    assert times.micros.tolist() == [int(each.micros[0]) for each in alone]
    assert times.truncated == sum(each.truncated for each in alone)


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        ("+5", pa.int64(), 5),
        (" 5 ", pa.int64(), 5),
        ("0x10", pa.int64(), None),
        ("5.0", pa.int64(), None),
        (" 5.5 ", pa.float64(), 5.5),
        ("True", pa.bool_(), True),
        ("0", pa.bool_(), False),
        ("yes", pa.bool_(), None),
    ],
)
def test_values(text, target, value):
    assert parse(pa.array([text]), target).values.to_pylist() == [value]
