"""Where keys lie. The numbers are those of every checkpoint that exists: they never change."""

import numpy as np
import pyarrow as pa
import pytest

from runtime.pipeline.partitioner import by_shard, shards_of


def placed(*columns: pa.Array, count: int = 1000) -> list[int]:
    return shards_of(list(columns), len(columns[0]), count).tolist()


GOLDEN = {
    "whole": (pa.array([0, 1, 2, -1, 2**62, None]), [764, 45, 132, 428, 314, 951]),
    "text": (
        pa.array(["", "a", "driver 1", "ä", "x" * 100, None]),
        [405, 379, 921, 356, 510, 951],
    ),
    "doubles": (pa.array([0.0, 0.5, -1.5, 1e300, None]), [764, 327, 638, 537, 951]),
    "truth": (pa.array([True, False, None]), [45, 764, 951]),
    "beyond int64": (pa.array([2**63 + 1, 1], pa.uint64()), [700, 45]),
    "bytes": (pa.array([b"", b"a", None]), [405, 379, 951]),
    "moments": (pa.array([0, 1, None], pa.timestamp("us")), [764, 45, 951]),
    "days": (pa.array([0, 1, None], pa.int32()).cast(pa.date32()), [764, 45, 951]),
}


@pytest.mark.parametrize("kind", GOLDEN)
def test_golden(kind: str) -> None:
    column, shards = GOLDEN[kind]
    assert placed(column) == shards


def test_golden_of_two_attributes() -> None:
    names, numbers = pa.array(["a", "a", "b", None, "a"]), pa.array([1, 2, 1, 1, None])
    assert placed(names, numbers) == [48, 69, 1, 853, 318]


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint32(), pa.uint64()]
)
def test_whole_numbers_of_any_width(kind: pa.DataType) -> None:
    numbers = pa.array([0, 1, 100, None])
    assert placed(numbers.cast(kind)) == placed(numbers)


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())]
)
def test_text_of_any_form(kind: pa.DataType) -> None:
    texts = pa.array(["a", "b", "a", "", None])
    changed = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    assert placed(changed) == placed(texts)


def test_both_zeros_are_one() -> None:
    assert placed(pa.array([-0.0])) == placed(pa.array([0.0]))


def test_what_lies_under_a_null_does_not_matter() -> None:
    under = np.array([1, 2, 3])
    hidden = pa.array(under, mask=np.array([True, True, True]))
    assert placed(hidden) == placed(pa.nulls(3, pa.int64()))
    assert len(set(placed(hidden))) == 1


def test_a_slice_is_placed_as_the_whole() -> None:
    texts = pa.array(["x", None, "a", "driver 1", None])
    assert placed(texts.slice(2)) == placed(texts)[2:]


def test_the_order_of_attributes_counts() -> None:
    ones, twos = pa.array([1] * 3), pa.array([2] * 3)
    assert placed(ones, twos) != placed(twos, ones)


def test_without_attributes_all_lie_in_one() -> None:
    assert shards_of([], 3, 8).tolist() == [0, 0, 0]
    assert shards_of([pa.array([1, 2, 3])], 3, 1).tolist() == [0, 0, 0]


@pytest.mark.parametrize("count", [2, 3, 8, 64])
def test_keys_are_spread_evenly(count: int) -> None:
    for column in (pa.array(range(20_000)), pa.array([f"driver {n}" for n in range(20_000)])):
        sizes = np.bincount(placed(column, count=count), minlength=count)
        expected = 20_000 / count
        assert sizes.min() > 0.8 * expected
        assert sizes.max() < 1.2 * expected


def test_rows_by_shard_keep_their_order() -> None:
    shards = np.array([2, 0, 2, 1, 0, 2], np.int32)
    keep = np.array([True, True, True, True, False, True])
    rows, starts = by_shard(shards, keep, 4)
    assert rows.tolist() == [1, 3, 0, 2, 5]
    assert starts.tolist() == [0, 1, 2, 5, 5]
