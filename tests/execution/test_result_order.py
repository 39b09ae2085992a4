"""Rows in the order of windows and groups, null first, as sorting tuples would put them."""

import random

import numpy as np
import pyarrow as pa
import pytest

from execution.columns import column, values_of
from runtime.execution.result_order import ResultOrder, reorder

TYPES = [
    pa.int64(),
    pa.uint64(),
    pa.float64(),
    pa.string(),
    pa.bool_(),
    pa.binary(),
    pa.timestamp("us"),
    pa.timestamp("ns", "UTC"),
    pa.date32(),
    pa.time64("us"),
    pa.null(),
]


def key(window: int, group: tuple) -> tuple:
    return window, [(value is not None, value) for value in group]


def check(windows: list[int], groups: list[pa.Array]) -> None:
    """The order is that of a stable sort, and numbers are those of sorted tuples."""
    rows = list(zip(*map(values_of, groups), strict=True)) if groups else [()] * len(windows)
    keys = [key(*row) for row in zip(windows, rows, strict=True)]
    expected = sorted(range(len(keys)), key=keys.__getitem__)
    ordering = ResultOrder(np.array(windows, np.int64), groups)
    order = ordering.order()
    if order is None:
        assert expected == list(range(len(keys)))
    else:
        assert order.tolist() == expected
        assert expected != list(range(len(keys)))
    numbers, firsts = ordering.numbers()
    different = [
        keys[i] for n, i in enumerate(expected) if n == 0 or keys[expected[n - 1]] != keys[i]
    ]
    assert [keys[row] for row in firsts] == different
    assert [different[number] for number in numbers] == keys
    assert all(keys.index(keys[row]) == row for row in firsts)
    for group in groups:
        assert reorder(group, order).equals(group.take(pa.array(expected, pa.int64())))


@pytest.mark.parametrize("data_type", TYPES, ids=str)
@pytest.mark.parametrize("windows", [1, 3])
def test_one_group(data_type, windows):
    rng = random.Random(windows)
    for size in [0, 1, 2, 3, 8, 40, 300]:
        check([rng.randrange(-1, windows - 1) for _ in range(size)], [column(rng, data_type, size)])


@pytest.mark.parametrize("seed", range(60))
def test_several_groups(seed):
    rng = random.Random(seed)
    size = rng.choice([2, 20, 100])
    windows = [rng.choice([0, 5, 2**40]) for _ in range(size)]
    check(windows, [column(rng, rng.choice(TYPES), size) for _ in range(rng.randint(0, 3))])


@pytest.mark.parametrize("size", [1_000, 70_000])
@pytest.mark.parametrize("spread", [1, 2**20 + 1, 2**44 + 1, 2**63])
def test_many_rows(size, spread):
    draw = np.random.default_rng(1)
    values = draw.integers(-min(spread * size, 2**62) * 2, min(spread * size, 2**62) * 2 - 1, size)
    for array in (pa.array(values), pa.array(values / 8), pa.array(values).cast(pa.string())):
        plain = values_of(array)
        found = ResultOrder(np.zeros(size, np.int64), [array]).order()
        assert found is not None
        assert found.tolist() == sorted(range(size), key=plain.__getitem__)


@pytest.mark.parametrize("longest", [1, 7, 8, 9, 16, 17, 64, 65, 200])
def test_texts_of_any_length(longest):
    rng = random.Random(longest)
    texts = ["".join(rng.choices("a\0é", k=rng.randint(0, longest))) for _ in range(200)]
    texts += [text[: rng.randint(0, len(text))] for text in texts]
    check([0] * 400, [pa.array(texts)])
    check([0] * 400, [pa.array([rng.choice([text, None]) for text in texts])])


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["b", "a", None, "b", "c"]).dictionary_encode(),
        pa.array(["b", "a", None, "b", "c"], pa.large_string()),
        pa.array([b"ba", b"ab", None, b"ba", b"zz"], pa.binary(2)),
        pa.array([2, 1, None, 2, -1], pa.int16()),
        pa.array([2.5, 1, None, 2.5, -1], pa.float32()),
        pa.array([-0.0, 0.0, None, -0.0, -1.0]),
    ],
    ids=lambda array: str(array.type),
)
def test_other_types(array):
    check([0] * 5, [array])
    check([1, 0, 0, 0, 1], [array])


def test_rows_in_order_are_left_alone():
    windows = np.array([1, 1, 2, 2])
    assert ResultOrder(windows, [pa.array([None, 5, 1, 1])]).order() is None
    assert ResultOrder(windows, []).order() is None
    assert ResultOrder(windows[::-1], []).order() is not None
