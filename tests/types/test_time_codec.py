"""Times in any type come in as microseconds and leave as they came."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from runtime.errors import InputError
from runtime.types.time_codec import LIMIT, TimeCodec

DAY = 86_400_000_000


def read(column, unit=None):
    clock = TimeCodec(column.type, unit)
    micros, bad = clock.to_micros(column)
    return clock, micros.tolist(), bad.tolist()


@pytest.mark.parametrize(
    ("unit", "value", "micros"),
    [("s", 3, 3_000_000), ("ms", 3, 3_000), ("us", 3, 3), ("ns", 3_000, 3)],
)
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_timestamps_of_every_unit_and_zone_leave_as_they_came(unit, zone, value, micros):
    column = pa.array([value, -value], pa.timestamp(unit, zone))
    clock, times, bad = read(column)
    assert times == [micros, -micros]
    assert bad == [False, False]
    assert clock.to_arrow(times).equals(column)
    assert clock.truncated == 0


def test_nanoseconds_are_floored_and_counted():
    clock, times, _ = read(pa.array([1_999, -1, 5_000], pa.timestamp("ns")))
    assert times == [1, -1, 5]
    assert clock.truncated == 2


@pytest.mark.parametrize(("unit", "factor"), [(None, 10**6), ("s", 10**6), ("ms", 1000), ("us", 1)])
def test_integers_count_in_the_unit_seconds_by_default(unit, factor):
    for data_type in (pa.int8(), pa.int32(), pa.int64(), pa.uint16(), pa.uint64()):
        clock, times, bad = read(pa.array([0, 7], data_type), unit)
        assert times == [0, 7 * factor]
        assert not any(bad)
        assert clock.to_arrow(times).equals(pa.array([0, 7], pa.int64()))


def test_integers_in_nanoseconds():
    clock, times, _ = read(pa.array([1_500, 2_000]), "ns")
    assert times == [1, 2]
    assert clock.truncated == 1
    assert clock.to_arrow(np.array(times)).to_pylist() == [1_000, 2_000]


def test_null_and_overflow_are_bad_rows():
    _, _, bad = read(pa.array([None, 2**62, -(2**62), 5], pa.timestamp("s")))
    assert bad == [True, True, True, False]
    _, _, bad = read(pa.array([2**63, 2**64 - 1, 1], pa.uint64()), "us")
    assert bad == [True, True, False]
    _, times, bad = read(pa.array([LIMIT, LIMIT + 1]), "us")
    assert (times[0], bad) == (LIMIT, [False, True])


def test_dates_leave_as_timestamps_of_seconds():
    for data_type in (pa.date32(), pa.date64()):
        clock, times, _ = read(pa.array([date(1970, 1, 2), date(1969, 12, 31)], data_type))
        assert times == [DAY, -DAY]
        assert clock.to_arrow(times).type == pa.timestamp("s")
        assert clock.to_arrow(times).cast(pa.int64()).to_pylist() == [86_400, -86_400]


def test_strings_of_integers():
    clock, times, bad = read(pa.array(["5", " +6 ", "x", None, "7.5", "0x10", "9" * 30]), "ms")
    assert times[:2] == [5_000, 6_000]
    assert bad == [False, False, True, True, True, True, True]
    assert clock.to_arrow([5_000]).equals(pa.array([5]))


def test_strings_of_iso_times_with_and_without_zone():
    texts = [
        "1970-01-01T00:00:01",
        "1970-01-01 00:00:02.5",
        "1970-01-01T02:00:03+02:00",
        "1970-01-01T00:00:04Z",
        "1970-01-02",
        "1970-02-30T00:00:00",
        "17",
        "noon",
    ]
    clock, times, bad = read(pa.array(texts))
    assert times[:5] == [1_000_000, 2_500_000, 3_000_000, 4_000_000, DAY]
    assert bad == [False] * 5 + [True] * 3
    assert clock.type == pa.timestamp("us")


def test_the_first_good_string_decides_for_the_whole_input():
    clock = TimeCodec(pa.string())
    _, bad = clock.to_micros(pa.array([None, "?"]))
    assert bad.tolist() == [True, True]
    assert not clock.decided
    _, bad = clock.to_micros(pa.array(["?", "2020-01-01T00:00:00Z", "5"]))
    assert bad.tolist() == [True, False, True]
    assert clock.type == pa.timestamp("us", "UTC")
    assert clock.decided
    _, bad = clock.to_micros(pa.array(["5", "6"]))
    assert bad.all()


def test_finer_iso_times_are_floored_and_counted():
    texts = ["1970-01-01T00:00:00.1234567Z", "1970-01-01T00:00:00.123456000Z"]
    clock, times, bad = read(pa.array(texts))
    assert times == [123_456, 123_456]
    assert not any(bad)
    assert clock.truncated == 1


def test_packed_strings_are_strings():
    for column in (
        pa.array(["5", "6"], pa.large_string()),
        pa.array(["5", "6"]).dictionary_encode(),
        pa.array(["5", "6"], pa.string_view()),
        pa.chunked_array([["5"], ["6"]]),
    ):
        assert read(column)[1] == [5_000_000, 6_000_000]


@pytest.mark.parametrize(
    "data_type",
    [
        pa.float64(),
        pa.float16(),
        pa.bool_(),
        pa.time64("us"),
        pa.duration("s"),
        pa.list_(pa.int8()),
    ],
)
def test_other_columns_are_refused(data_type):
    with pytest.raises(InputError):
        TimeCodec(data_type)


def test_an_unknown_unit_is_refused():
    with pytest.raises(InputError, match="`min`"):
        TimeCodec(pa.int64(), "min")


def test_windows_that_the_type_cannot_write():
    seconds = TimeCodec(pa.int64())
    assert seconds.check_window(60_000_000, 1_000_000) is None
    assert "500 ms" in seconds.check_window(500_000, 500_000)
    assert "SLIDE" in seconds.check_window(2_000_000, 500_000)
    assert TimeCodec(pa.timestamp("ms")).check_window(500_000, 500_000) is None
    assert "milliseconds" in TimeCodec(pa.int64(), "ms").check_window(1_500, 500)
    assert TimeCodec(pa.timestamp("ns")).check_window(1, 1) is None
    assert TimeCodec(pa.date32()).check_window(500_000, 500_000) is not None
    assert TimeCodec(pa.string()).check_window(1, 1) is None  # not known yet


def test_a_time_that_the_type_cannot_hold_leaves_as_null():
    clock = TimeCodec(pa.timestamp("ns"))
    assert clock.to_arrow([LIMIT, 1]).is_null().to_pylist() == [True, False]


def test_a_later_type_is_taken_if_it_means_the_same():
    clock = TimeCodec(pa.timestamp("us"))
    times, _ = clock.to_micros(pa.array([3], pa.timestamp("s")))
    assert times.tolist() == [3_000_000]
    with pytest.raises(InputError, match="int64"):
        clock.to_micros(pa.array([3]))
    with pytest.raises(InputError, match="timestamp"):
        TimeCodec(pa.int64()).to_micros(pa.array([3], pa.timestamp("s")))


def test_a_column_of_nulls_waits_for_what_comes():
    clock = TimeCodec(pa.null())
    assert clock.to_micros(pa.nulls(2))[1].all()
    assert clock.to_micros(pa.array([4]))[0].tolist() == [4_000_000]
