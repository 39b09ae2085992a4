"""Builds syntax nodes from the parse tree of lark, with a method for each grammar rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token, Tree
from lark.tree import Meta

from runtime.language import ast as s


def unquote(token: Token) -> str:
    """The text between the quotes; a doubled quote stands for one."""
    mark = token[0]
    return str(token[1:-1]).replace(mark * 2, mark)


def number(token: Token) -> int | float:
    text = str(token)
    # A number of more than 400 digits exceeds every double; Python rejects very long ones.
    return int(text) if text.isdigit() and len(text) < 400 else float(text)


class Builder:
    """`base` is the offset of the clause in the file, so that spans are offsets in the file."""

    def __init__(self, base: int) -> None:
        self._base = base

    def build(self, node: Tree[Token] | Token | None) -> Any:
        if not isinstance(node, Tree):
            return node
        parts = [self.build(child) for child in node.children]
        return getattr(self, node.data)(node.meta, parts)

    def _span(self, meta: Meta) -> s.Span:
        return (self._base + meta.start_pos, self._base + meta.end_pos)

    # ---- names -----------------------------------------------------------------------------

    def name(self, meta: Meta, parts: list[Token]) -> s.Word:
        token = parts[0]
        text = unquote(token) if token.type == "QUOTED" else str(token)
        return s.Word(text, span=self._span(meta))

    def names(self, meta: Meta, parts: list[s.Word]) -> tuple[s.Column, ...]:
        return tuple(s.Column(word.text, span=word.span) for word in parts)

    def query_name(self, meta: Meta, parts: list[s.Word]) -> s.Word:
        return parts[0]

    def semantics(self, meta: Meta, parts: list[Token]) -> s.Word:
        return s.Word("".join(str(parts[0]).lower().split()), span=self._span(meta))

    def duration(self, meta: Meta, parts: list[Token]) -> s.Duration:
        amount, unit = parts
        start = self._base + (unit.start_pos or 0)
        return s.Duration(
            number(amount),
            unit.lower(),
            unit_span=(start, start + len(unit)),
            span=self._span(meta),
        )

    # ---- patterns --------------------------------------------------------------------------

    def event(self, meta: Meta, parts: list[s.Word | None]) -> s.Event:
        type_, alias = parts
        assert type_ is not None
        return s.Event(type_.text, alias.text if alias else None, span=self._span(meta))

    def group(self, meta: Meta, parts: list[Any]) -> s.Pattern:
        inner: s.Pattern = parts[-1]
        return replace(inner, span=self._span(meta))

    def sequence(self, meta: Meta, parts: list[s.Pattern]) -> s.Seq:
        return s.Seq(tuple(parts), span=self._span(meta))

    def either(self, meta: Meta, parts: list[s.Pattern]) -> s.Either:
        return s.Either(tuple(parts), span=self._span(meta))

    def negation(self, meta: Meta, parts: list[Any]) -> s.Not:
        return s.Not(parts[1], span=self._span(meta))

    def plus(self, meta: Meta, parts: list[s.Pattern]) -> s.Plus:
        return s.Plus(parts[0], span=self._span(meta))

    def star(self, meta: Meta, parts: list[s.Pattern]) -> s.Star:
        return s.Star(parts[0], span=self._span(meta))

    def optional(self, meta: Meta, parts: list[s.Pattern]) -> s.Maybe:
        return s.Maybe(parts[0], span=self._span(meta))

    def pattern(self, meta: Meta, parts: list[s.Pattern]) -> s.Pattern:
        if len(parts) == 1:
            return parts[0]
        return s.Both(parts[0], parts[1], span=self._span(meta))

    # ---- RETURN ----------------------------------------------------------------------------

    def returns(self, meta: Meta, parts: list[s.ReturnItem]) -> tuple[s.ReturnItem, ...]:
        return tuple(parts)

    def output(self, meta: Meta, parts: list[Any]) -> s.ReturnItem:
        value, name = parts[0], parts[-1] if len(parts) == 3 else None
        if isinstance(value, s.Word):
            value = s.Column(value.text, span=value.span)
        return s.ReturnItem(value, name.text if name else None, span=self._span(meta))

    def aggregate(self, meta: Meta, parts: list[Any]) -> s.Aggregate:
        function, target, *rest = parts
        span = self._span(meta)
        if isinstance(target, Token):
            return s.Aggregate(function.upper(), span=span)
        attribute = rest[0] if rest else None
        return s.Aggregate(
            function.upper(),
            target.text,
            attribute.text if attribute else None,
            owner_span=target.span,
            attribute_span=attribute.span if attribute else span,
            span=span,
        )

    # ---- conditions ------------------------------------------------------------------------

    def any_of(self, meta: Meta, parts: list[Any]) -> s.Expression:
        terms = _without_tokens(parts)
        return terms[0] if len(terms) == 1 else s.AnyOf(terms, span=self._span(meta))

    def all_of(self, meta: Meta, parts: list[Any]) -> s.Expression:
        terms = _without_tokens(parts)
        return terms[0] if len(terms) == 1 else s.AllOf(terms, span=self._span(meta))

    def invert(self, meta: Meta, parts: list[Any]) -> s.Invert:
        return s.Invert(parts[1], span=self._span(meta))

    def compare(self, meta: Meta, parts: list[Any]) -> s.Compare:
        left, operator, right = parts
        operator = "!=" if operator == "<>" else str(operator)
        return s.Compare(operator, left, right, span=self._span(meta))

    def one_of(self, meta: Meta, parts: list[Any]) -> s.Expression:
        body, negated, _, *values = parts
        return self._maybe_inverted(negated, s.OneOf(body, tuple(values), span=self._span(meta)))

    def between(self, meta: Meta, parts: list[Any]) -> s.Expression:
        body, negated, _, low, _, high = parts
        return self._maybe_inverted(negated, s.Between(body, low, high, span=self._span(meta)))

    def is_null(self, meta: Meta, parts: list[Any]) -> s.Expression:
        body, _, negated, _ = parts
        return self._maybe_inverted(negated, s.IsNull(body, span=self._span(meta)))

    @staticmethod
    def _maybe_inverted(negated: Token | None, expression: s.Expression) -> s.Expression:
        return s.Invert(expression, span=expression.span) if negated else expression

    def equivalence(self, meta: Meta, parts: list[s.Word]) -> s.Equivalence:
        return s.Equivalence(self.names(meta, parts), span=self._span(meta))

    def length(self, meta: Meta, parts: list[Token]) -> s.Length:
        return s.Length(str(parts[1]), number(parts[2]), span=self._span(meta))

    def arithmetic(self, meta: Meta, parts: list[Any]) -> s.Arithmetic:
        left, operator, right = parts
        return s.Arithmetic(str(operator), left, right, span=self._span(meta))

    def negative(self, meta: Meta, parts: list[Any]) -> s.Expression:
        body, span = parts[1], self._span(meta)
        if isinstance(body, s.Literal) and not isinstance(body.value, str | bool | None):
            return s.Literal(-body.value, span=span)
        return s.Negative(body, span=span)

    def number(self, meta: Meta, parts: list[Token]) -> s.Literal:
        return s.Literal(number(parts[0]), span=self._span(meta))

    def literal_number(self, meta: Meta, parts: list[Token | None]) -> s.Literal:
        sign, digits = parts
        assert digits is not None
        value = number(digits)
        return s.Literal(-value if sign == "-" else value, span=self._span(meta))

    def text(self, meta: Meta, parts: list[Token]) -> s.Literal:
        return s.Literal(unquote(parts[0]), span=self._span(meta))

    def true(self, meta: Meta, parts: list[Token]) -> s.Literal:
        return s.Literal(True, span=self._span(meta))

    def false(self, meta: Meta, parts: list[Token]) -> s.Literal:
        return s.Literal(False, span=self._span(meta))

    def attribute(self, meta: Meta, parts: list[s.Word]) -> s.Attribute:
        return self._attribute(meta, parts[0], parts[1], following=False)

    def next_attribute(self, meta: Meta, parts: list[Any]) -> s.Attribute:
        return self._attribute(meta, parts[1], parts[2], following=True)

    def _attribute(
        self, meta: Meta, owner: s.Word, name: s.Word, *, following: bool
    ) -> s.Attribute:
        return s.Attribute(
            owner.text,
            name.text,
            following,
            owner_span=owner.span,
            name_span=name.span,
            span=self._span(meta),
        )

    def column(self, meta: Meta, parts: list[s.Word]) -> s.Column:
        return s.Column(parts[0].text, span=parts[0].span)


def _without_tokens(parts: list[Any]) -> tuple[s.Expression, ...]:
    return tuple(part for part in parts if not isinstance(part, Token))
