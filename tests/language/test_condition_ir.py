"""The core form of conditions, and that every evaluator knows every kind of node in it."""

from typing import get_args

import numpy as np
import pytest

from runtime.execution.column import MaskedColumn
from runtime.execution.operators.general.predicate_compiler import WHOLE, Programs
from runtime.execution.predicate import truth
from runtime.language import ast as s
from runtime.language.condition_ir import CORE, lower
from runtime.language.parser import parse
from runtime.language.row_eval import compile_expression

X, Y, LATER = s.Attribute("A", "x"), s.Attribute("A", "y"), s.Attribute("B", "x", next=True)
ONE, TWO = s.Literal(1), s.Literal(2)

#: A condition with each kind of node.
EXAMPLES = {
    s.Literal: s.Compare("<", X, ONE),
    s.Attribute: s.Compare("<", X, Y),
    s.Column: s.Compare(">=", s.Column("x"), ONE),
    s.Aggregate: s.Compare(">", s.Aggregate("MIN", "A", "x"), ONE),
    s.Arithmetic: s.Compare("=", s.Arithmetic("+", X, Y), TWO),
    s.Negative: s.Compare("<", s.Negative(X), Y),
    s.Compare: s.Compare("!=", X, Y),
    s.OneOf: s.OneOf(X, (ONE, TWO)),
    s.IsNull: s.IsNull(X),
    s.AllOf: s.AllOf((s.Compare("<", X, TWO), s.Compare(">", Y, ONE))),
    s.AnyOf: s.AnyOf((s.Compare("<", X, ONE), s.Compare(">", Y, ONE))),
    s.Invert: s.Invert(s.Compare("=", X, Y)),
}
# WHERE lowers BETWEEN, and classes these two apart from conditions on events.
NOT_CORE = {s.Between, s.Equivalence, s.Length}
ROWS = [{"x": x, "y": y} for x in (0, 1, 2, None) for y in (1, 2, None)]


def test_the_core_is_closed():
    assert set(CORE) | NOT_CORE == set(get_args(s.Expression))
    assert set(EXAMPLES) == set(CORE)
    for kind, example in EXAMPLES.items():
        assert any(isinstance(node, kind) for node in s.walk(example))
        assert lower(example) == example


def name_of(leaf: s.Expression) -> str:
    return (leaf.attribute if isinstance(leaf, s.Aggregate) else leaf.name) or ""


@pytest.mark.parametrize("kind", CORE)
def test_evaluators_by_row_and_by_column_agree(kind: type[s.SyntaxNode]):
    example = EXAMPLES[kind]
    holds = compile_expression(example, lambda leaf: lambda row, _: row[name_of(leaf)])
    by_row = [holds(row, row) is True for row in ROWS]

    def column(leaf: s.Expression) -> MaskedColumn:
        values = [row[name_of(leaf)] for row in ROWS]
        valid = np.array([value is not None for value in values])
        return MaskedColumn(np.array([value or 0 for value in values]), valid)

    assert truth(example, column, len(ROWS)).tolist() == by_row
    assert len(set(by_row)) == 2, "an example that is always true shows nothing"


@pytest.mark.parametrize("kind", [kind for kind in CORE if kind not in (s.Column, s.Aggregate)])
def test_the_general_operator_compiles_every_kind(kind: type[s.SyntaxNode]):
    """Columns and aggregates stand in HAVING only."""
    programs = Programs({"x": 0, "y": 1}, {"x": WHOLE, "y": WHOLE})
    start, stop = programs.add(EXAMPLES[kind])
    assert stop > start


@pytest.mark.parametrize(
    ("written", "core"),
    [
        (
            s.Between(X, ONE, TWO),
            s.AllOf((s.Compare(">=", X, ONE), s.Compare("<=", X, TWO))),
        ),
        (
            s.Invert(s.Between(ONE, X, Y)),
            s.Invert(s.AllOf((s.Compare("<=", X, ONE), s.Compare(">=", Y, ONE)))),
        ),
        (s.Compare("<", ONE, X), s.Compare(">", X, ONE)),
        (s.Compare("<", LATER, X), s.Compare(">", X, LATER)),
        (s.Compare("!=", X, LATER), s.Compare("!=", X, LATER)),
        (s.Compare("=", ONE, TWO), s.Compare("=", ONE, TWO)),
    ],
)
def test_lowering(written: s.Expression, core: s.Expression):
    assert lower(written) == core


def test_a_query_keeps_what_was_written():
    (query,) = parse(
        "RETURN COUNT(*) PATTERN A+ WHERE A.x BETWEEN 1 AND 2 AND NEXT(A).x < A.x "
        "HAVING 3 < COUNT(*) WITHIN 1 s"
    )
    assert query.local[0].written == s.Between(X, ONE, TWO)
    assert query.local[0].expression == lower(s.Between(X, ONE, TWO))
    later = s.Attribute("A", "x", next=True)
    assert query.adjacent[0].written == s.Compare("<", later, X)
    assert query.adjacent[0].expression == s.Compare(">", X, later)
    assert query.having == s.Compare(">", s.Aggregate("COUNT"), s.Literal(3))
