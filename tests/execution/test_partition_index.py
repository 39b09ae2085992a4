"""Slots of partition keys: one for each combination of values, as a dictionary would give them."""

import random

import numpy as np
import pyarrow as pa
import pytest

from execution.columns import column, values_of
from runtime.execution.partition_index import PartitionIndex

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
]


def key_of(row: tuple) -> tuple:
    return tuple(0.0 if value == 0 and isinstance(value, float) else value for value in row)


class Model:
    """What the keys should be: a dictionary from values to slots."""

    def __init__(self, types: dict[str, pa.DataType]) -> None:
        self.types = types
        self.keys = PartitionIndex(types)
        self.known: dict[tuple, int] = {}

    def take(self, columns: list[pa.Array]) -> np.ndarray:
        size = len(columns[0]) if columns else 5
        batch = pa.record_batch(columns, list(self.types)) if columns else None
        slots = (
            self.keys.slots(batch) if batch else self.keys.slots(pa.record_batch({"a": [1] * 5}))
        )
        assert slots.dtype == np.int32
        rows = list(zip(*(values_of(c) for c in columns), strict=True)) if columns else [()] * size
        for row, slot in zip(rows, slots.tolist(), strict=True):
            assert 0 <= slot < self.keys.capacity
            assert self.known.setdefault(key_of(row), slot) == slot
        assert len(set(self.known.values())) == len(self.known) == self.keys.count
        return slots

    def check_columns(self) -> None:
        slots = np.array(list(self.known.values()), np.int32)
        columns = self.keys.columns(slots)
        assert [c.type for c in columns] == list(self.types.values())
        if columns:
            rows = list(zip(*(values_of(c) for c in columns), strict=True))
            assert rows == list(self.known)

    def release(self, keep: set[tuple]) -> None:
        dead = np.ones(self.keys.capacity, np.bool_)
        self.known = {key: slot for key, slot in self.known.items() if key in keep}
        dead[list(self.known.values())] = False
        self.keys.release(dead)
        assert self.keys.count == len(self.known)


@pytest.mark.parametrize("seed", range(60))
def test_as_a_dictionary_would(seed):
    rng = random.Random(seed)
    types = {f"a{i}": rng.choice(TYPES) for i in range(rng.choice([0, 1, 1, 1, 2, 3]))}
    model = Model(types)
    for _ in range(6):
        model.take([column(rng, t, rng_size) for t in types.values() for rng_size in [20]])
        model.check_columns()
        if rng.random() < 0.4:
            model.release({key for key in model.known if rng.random() < 0.5})
            model.check_columns()
        if rng.random() < 0.3:
            loaded = PartitionIndex(types)
            loaded.load(model.keys.save())
            model.keys = loaded


@pytest.mark.parametrize("spread", [1, 7, 2**40 + 1])
@pytest.mark.parametrize("kind", ["int", "pair", "text", "double"])
def test_many(kind, spread):
    rng = np.random.default_rng(3)
    types = {
        "int": {"a": pa.int64()},
        "pair": {"a": pa.int64(), "b": pa.int64()},
        "text": {"a": pa.string()},
        "double": {"a": pa.float64()},
    }[kind]
    keys, known = PartitionIndex(types), {}
    for step in range(5):
        values = rng.integers(step * 3_000 - 5_000, step * 3_000 + 5_000, 20_000) * spread
        columns = {
            "int": [pa.array(values)],
            "pair": [pa.array(values // 100), pa.array(values % 100)],
            "text": [pa.array(values).cast(pa.string())],
            "double": [pa.array(values / 4)],
        }[kind]
        slots = keys.slots(pa.record_batch(columns, list(types)))
        for value, slot in zip(values.tolist(), slots.tolist(), strict=True):
            assert known.setdefault(value, slot) == slot
        assert keys.count == len(set(known.values())) == len(known)
        back = keys.columns(slots)
        assert all(one.equals(other) for one, other in zip(back, columns, strict=True))


@pytest.mark.parametrize("data_type", [pa.int64(), pa.string()])
def test_memory_stays_flat_under_endless_new_keys(data_type):
    keys = PartitionIndex({"a": data_type})
    sizes = []
    for step in range(60):
        values = pa.array(np.arange(step * 1_000, (step + 1) * 1_000)).cast(data_type)
        slots = keys.slots(pa.record_batch([values], ["a"]))
        assert keys.columns(slots)[0].equals(values)
        keys.release(np.ones(keys.capacity, np.bool_))
        sizes.append((keys.capacity, keys.nbytes))
    assert sizes[-1] == sizes[10]
    assert keys.count == 0


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a", "b", None, "a"], pa.large_string()),
        pa.array(["a", "b", None, "a"]).dictionary_encode(),
        pa.array(["a", "b", None, "a"], pa.string_view()),
        pa.array([b"ab", b"cd", None, b"ab"], pa.binary(2)),
        pa.array([1, 2, None, 1], pa.decimal128(20, 2)),
        pa.array([1, 2, None, 1], pa.int16()),
        pa.array([1.5, 2, None, 1.5], pa.float32()),
        pa.array([None, None, None, None], pa.null()),
    ],
    ids=lambda array: str(array.type),
)
@pytest.mark.parametrize("more", [False, True])
def test_other_types(array, more):
    types = {"a": array.type} | ({"b": pa.int64()} if more else {})
    columns = [array] + ([pa.array([1, 1, 1, 1])] if more else [])
    keys = PartitionIndex(types)
    slots = keys.slots(pa.record_batch(columns, list(types)))
    assert slots[0] == slots[3]
    assert keys.count == len(array.unique())
    back = keys.columns(slots)[0]
    assert back.type == array.type
    assert back.to_pylist() == array.to_pylist()


def test_a_column_that_is_not_there_is_null():
    keys = PartitionIndex({"a": pa.int64(), "b": pa.string()})
    slots = keys.slots(pa.record_batch({"a": pa.array([1, 2, 1])}))
    assert slots.tolist() == [0, 1, 0]
    assert keys.columns(slots)[1].to_pylist() == [None, None, None]
