"""Conditions over columns say the same as the same conditions row by row."""

import random

import numpy as np
import pyarrow as pa
import pytest

from execution.columns import DOUBLES, EDGES, LETTERS, column, values_of
from runtime.execution.column import MaskedColumn
from runtime.execution.predicate import truth
from runtime.language import ast as s
from runtime.language.canonical import canonical
from runtime.language.condition_ir import lower
from runtime.language.row_eval import compile_expression

TYPES = {
    "i": pa.int64(),
    "j": pa.int64(),
    "u": pa.uint64(),
    "d": pa.float64(),
    "e": pa.float64(),
    "t": pa.string(),
    "v": pa.string(),
    "b": pa.bool_(),
    "c": pa.bool_(),
    "y": pa.binary(),
    "z": pa.binary(),
    "at": pa.timestamp("us"),
    "day": pa.date32(),
    "clock": pa.time64("us"),
    "nothing": pa.null(),
}
NUMBERS = [*EDGES, *DOUBLES, 0.1, 2.5, -0.5, 2**64 - 1, 10**20, -(10**30), 10**400, 1e400, 2.0**64]
ORDER = ["=", "!=", "<", "<=", ">", ">="]


class Maker:
    """Random conditions of the kinds that the language lets through."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def name(self, *names: str) -> s.Expression:
        return s.Attribute("A", self.rng.choice(names))

    def number(self, depth: int) -> s.Expression:
        pick = self.rng.random()
        if depth and pick < 0.3:
            sign = self.rng.choice("+-*/%")
            return s.Arithmetic(sign, self.number(depth - 1), self.number(depth - 1))
        if depth and pick < 0.35:
            body = self.number(depth - 1)
            return body if isinstance(body, s.Literal) else s.Negative(body)
        if pick < 0.6:
            return s.Literal(self.rng.choice(NUMBERS))
        return self.name("i", "j", "u", "d", "e")

    def literals(self, values: list) -> tuple[s.Literal, ...]:
        return tuple(s.Literal(self.rng.choice(values)) for _ in range(self.rng.choice([1, 3, 12])))

    def condition(self, depth: int) -> s.Expression:
        rng = self.rng
        pick = rng.randrange(10 if depth else 7)
        if pick < 2:
            return s.Compare(rng.choice(ORDER), self.number(2), self.number(2))
        if pick == 2:
            return s.Between(self.number(1), self.number(1), self.number(1))
        if pick == 3:
            texts = [self.name("t", "v"), s.Literal(rng.choice(LETTERS)), self.name("t", "v")]
            left, right = rng.sample(texts, 2)
            return s.Compare(rng.choice(ORDER), left, right)
        if pick == 4:
            body, values = rng.choice(
                [
                    (self.number(1), NUMBERS),
                    (self.name("t"), [*LETTERS, None]),
                    (self.name("b"), [True, False]),
                ]
            )
            return s.OneOf(body, self.literals(values))
        if pick == 5:
            return s.IsNull(self.name(*TYPES) if rng.random() < 0.5 else self.number(2))
        if pick == 6:
            return self.anything()
        parts = tuple(self.condition(depth - 1) for _ in range(rng.choice([2, 2, 3])))
        return rng.choice([s.AllOf(parts), s.AnyOf(parts), s.Invert(parts[0])])

    def anything(self) -> s.Expression:
        rng = self.rng
        if rng.random() < 0.4:
            return s.Compare(rng.choice(["=", "!="]), self.name("b"), s.Literal(rng.random() < 0.5))
        if rng.random() < 0.5:  # attributes of any kinds can be held against each other
            return s.Compare(rng.choice(["=", "!="]), self.name(*TYPES), self.name(*TYPES))
        kinds = [
            ("y", "z"),
            ("at", "day", "clock", "i", "u", "d", "b"),
            ("b", "c"),
            ("nothing", "t"),
        ]
        names = rng.choice(kinds)
        return s.Compare(rng.choice(ORDER), self.name(*names), self.name(*names))


def row_by_row(expression: s.Expression, columns: dict[str, pa.Array], size: int) -> list[bool]:
    listed = {name: values_of(array) for name, array in columns.items()}
    rows = [{name: values[i] for name, values in listed.items()} for i in range(size)]
    holds = compile_expression(expression, lambda leaf: lambda row, _: row[leaf.name])
    return [holds(row, row) is True for row in rows]


@pytest.mark.parametrize("seed", range(40))
def test_same_as_row_by_row(seed):
    rng = random.Random(seed)
    size = rng.choice([0, 1, 30])
    columns = {name: column(rng, data_type, size) for name, data_type in TYPES.items()}
    cells = {name: MaskedColumn.of(array) for name, array in columns.items()}
    maker = Maker(rng)
    for _ in range(60):
        expression = lower(maker.condition(3))
        try:
            expected = row_by_row(expression, columns, size)
        except OverflowError:  # the sign of a number beyond doubles: only constants have those
            continue
        found = truth(canonical(expression), lambda leaf: cells[leaf.name], size)
        assert found.dtype == np.bool_
        assert found.tolist() == expected, expression


def test_the_name_of_the_event_does_not_count():
    one = s.AllOf(
        (s.IsNull(s.Attribute("A", "x")), s.OneOf(s.Attribute("A", "y"), (s.Literal(1),)))
    )
    other = s.AllOf(
        (s.IsNull(s.Attribute("B", "x")), s.OneOf(s.Attribute("B", "y"), (s.Literal(1),)))
    )
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(("symbol", "expected"), [("<", False), ("=", False), ("!=", True)])
def test_values_of_different_kinds(symbol, expected):
    """The plain engine fails on an order between them, which no check of a query refuses."""
    cells = {"t": MaskedColumn.of(pa.array(["a"])), "i": MaskedColumn.of(pa.array([1]))}
    expression = s.Compare(symbol, s.Attribute("A", "t"), s.Attribute("A", "i"))
    assert truth(expression, lambda leaf: cells[leaf.name], 1).tolist() == [expected]
