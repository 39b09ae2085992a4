"""Random columns of every kind that events have, with nulls and with numbers at the edges."""

import random

import pyarrow as pa

LETTERS = [
    "",
    "a",
    "ab",
    "b",
    "Z",
    "é",
    "\uffff",
    "\U0001f600",
    "ab\0",
    "a longer text than a word",
]
EDGES = [0, 1, -1, 2, 3, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
DOUBLES = [
    0.0,
    -0.0,
    0.5,
    -1.5,
    1.0,
    2.0,
    3.0,
    2.0**53,
    2.0**53 + 2,
    1e308,
    -1e308,
    5e-324,
    2.0**63,
]


def value(rng: random.Random, data_type: pa.DataType):
    if pa.types.is_null(data_type):
        return None
    if pa.types.is_boolean(data_type):
        return rng.random() < 0.5
    if pa.types.is_string(data_type):
        return rng.choice(LETTERS)
    if pa.types.is_binary(data_type):
        return rng.choice([b"", b"\0", b"a", b"\xff", b"ab"])
    if pa.types.is_floating(data_type):
        return rng.choice(DOUBLES) if rng.random() < 0.7 else rng.uniform(-3, 3)
    if pa.types.is_uint64(data_type):
        return rng.choice([0, 1, 2, 2**53 + 1, 2**63, 2**64 - 1])
    if data_type.bit_width == 32:
        return rng.choice([0, 1, 2, 86_399])
    whole = rng.choice(EDGES) if rng.random() < 0.7 else rng.randint(-3, 3)
    return abs(whole) % 86_400_000_000 if pa.types.is_time64(data_type) else whole


def column(rng: random.Random, data_type: pa.DataType, size: int) -> pa.Array:
    """Sometimes without nulls, sometimes a slice."""
    nulls = rng.choice([0.0, 0.3])
    values = [None if rng.random() < nulls else value(rng, data_type) for _ in range(size + 3)]
    storage = data_type
    if pa.types.is_temporal(data_type):
        storage = pa.int32() if data_type.bit_width == 32 else pa.int64()
    array = pa.array(values, storage)
    array = array if storage == data_type else array.view(data_type)
    return array[3:] if rng.random() < 0.5 else pa.concat_arrays([array[:size]])


def values_of(array: pa.Array | pa.ChunkedArray) -> list:
    """Python values, as the plain engine sees them: times are whole numbers."""
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return array.to_pylist()
