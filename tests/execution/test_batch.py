"""A batch gives events as numbers: times, slots, types, and attributes in their order."""

import random

import numpy as np
import pyarrow as pa
import pytest

from execution.columns import column, values_of
from runtime.execution.batch import Batch
from runtime.execution.column import from_whole_order
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.text_dictionary import TextDictionary
from runtime.execution.type_dictionary import TypeDictionary
from runtime.language.parser import parse

TYPES = {
    "i": pa.int64(),
    "u": pa.uint64(),
    "d": pa.float64(),
    "b": pa.bool_(),
    "t": pa.string(),
    "at": pa.timestamp("ns"),
    "day": pa.date32(),
}


def batch_of(columns: dict[str, pa.Array], texts: TextDictionary | None = None, **more) -> Batch:
    size = len(next(iter(columns.values())))
    kinds = pa.array(["A", "B", "nobody"] * size)[:size]
    events = pa.record_batch({"__time__": pa.array(np.arange(size)), "__type__": kinds, **columns})
    codes = TypeDictionary()
    codes.code("A"), codes.code("B")
    return Batch.of(
        events, PartitionIndex({"i": pa.int64()}), codes, texts or TextDictionary(), TYPES, **more
    )


def random_columns(seed: int, size: int = 40) -> dict[str, pa.Array]:
    rng = random.Random(seed)
    return {name: column(rng, data_type, size) for name, data_type in TYPES.items()}


@pytest.mark.parametrize("seed", range(10))
def test_order_is_that_of_thevalues_of(seed):
    columns, texts = random_columns(seed), TextDictionary()
    batch = batch_of(columns, texts)
    for name, array in columns.items():
        order, valid = batch.order(name)
        assert order.dtype == np.int64
        values = values_of(array)
        assert valid.tolist() == [value is not None for value in values]
        ranks = texts.ranks[order] if name == "t" else order
        there = [
            (value, rank)
            for value, rank in zip(values, ranks.tolist(), strict=True)
            if value is not None
        ]
        for one, rank in there:
            for other, place in there:
                assert (one < other) == (rank < place)
                assert (one == other) == (rank == place)


@pytest.mark.parametrize("seed", range(10))
def test_numbers_come_back_from_their_order(seed):
    columns = random_columns(seed)
    batch = batch_of(columns)
    for name in ("i", "u", "d"):
        order, valid = batch.order(name)
        values = from_whole_order(order, TYPES[name])[valid].tolist()
        assert values == columns[name].drop_null().to_pylist()


@pytest.mark.parametrize("seed", range(5))
def test_doubles(seed):
    columns = random_columns(seed)
    batch = batch_of(columns)
    for name in ("i", "u", "d", "b"):
        values = columns[name].to_pylist()
        expected = [np.nan if value is None else float(value) for value in values]
        np.testing.assert_array_equal(batch.number(name), expected)


def test_types_slots_and_instants():
    columns = {"i": pa.array([5, 5, None, 7, 5, None])}
    batch = batch_of(columns)
    assert batch.size == 6
    assert batch.types.tolist() == [0, 1, -1, 0, 1, -1]
    assert batch.types.dtype == batch.slots.dtype == np.int32
    assert batch.slots[0] == batch.slots[1] == batch.slots[4]
    assert batch.slots[2] == batch.slots[5]
    assert batch.instants is batch.times
    arrivals = np.arange(10, 16)
    assert batch_of(columns, instants=arrivals).instants is arrivals


def test_a_column_of_a_query_that_left_is_null():
    batch = batch_of({"i": pa.array([1, 2])})
    assert np.isnan(batch.number("d")).all()
    assert not batch.order("t")[1].any()


def test_conditions_of_one_event_are_worked_out_once():
    query = parse(
        "RETURN COUNT(*) PATTERN SEQ(A X, B+) WHERE X.i > 1 AND B.i > 1 WITHIN 5 seconds"
    ).queries[0]
    batch = batch_of({"i": pa.array([1, 2, None])})
    one, other = (batch.truth(condition.expression) for condition in query.local)
    assert one is other
    assert one.tolist() == [False, True, False]


def test_texts_keep_their_numbers_as_more_come():
    texts = TextDictionary()
    first = texts.ids(pa.array(["b", "a", None, "b"]))
    assert first.tolist() == [0, 1, 0, 0]
    assert texts.ranks.tolist() == [1, 0]
    assert texts.ids(pa.array(["", "a", "c"])).tolist() == [2, 1, 3]
    assert texts.ranks.tolist() == [2, 1, 0, 3]
