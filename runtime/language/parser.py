"""Text to syntax: one lark parser, a start symbol for each clause."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from runtime.errors import QueryError, WorkloadError
from runtime.language import syntax as s
from runtime.language.builder import Builder
from runtime.language.clauses import REQUIRED, Clause, QueryClauses, Source, cut
from runtime.language.query import Workload
from runtime.language.resolve import resolve

START = {
    "QUERY": "query_name",
    "RETURN": "returns",
    "PATTERN": "pattern",
    "SEMANTICS": "semantics",
    "WHERE": "condition",
    "GROUP-BY": "names",
    "HAVING": "condition",
    "WITHIN": "duration",
    "SLIDE": "duration",
}

# What a terminal is called in an error message.
SPOKEN = {
    "NAME": "a name",
    "QUOTED": "a name",
    "NUMBER": "a number",
    "STRING": "'text'",
    "FUNCTION": "COUNT, SUM, MIN, MAX or AVG",
    "UNIT": "a unit such as seconds, minutes or events",
    "WORD": "skip-till-any-match, skip-till-next-match or contiguous",
    "COMPARE": "a comparison",
    "MINUS": "-",
    "STAR": "*",
    "SLASH": "/",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "COMMA": ",",
    "DOT": ".",
    "PLUS": "+",
    "QMARK": "?",
    "VBAR": "|",
    "AMPERSAND": "&",
    "$END": "the end of the clause",
}


def parse(text: str, file: str = "<query>") -> Workload:
    """All queries of a text, checked. Raises `WorkloadError` with every mistake in it."""
    source = Source(text, file)
    queries, errors = cut(source)
    if not queries and not errors:
        hint = "for example: RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 1 minute"
        errors.append(source.error("there is no query here", (len(text), len(text)), hint))
    written = [_query_text(source, clauses, errors) for clauses in queries]
    resolved = resolve(source, written, errors)
    if errors:
        raise WorkloadError(errors)
    return Workload(tuple(resolved), source)


def _query_text(
    source: Source, query: QueryClauses, errors: list[QueryError]
) -> s.QueryText | None:
    """The query's syntax, or None where some clause of it does not parse."""
    parsed: dict[str, Any] = {}
    for keyword, clause in query.clauses.items():
        try:
            parsed[keyword] = _clause(source, clause)
        except QueryError as error:
            errors.append(error)
    if len(parsed) < len(query.clauses) or any(keyword not in parsed for keyword in REQUIRED):
        return None
    return s.QueryText(
        name=parsed.get("QUERY"),
        returns=parsed["RETURN"],
        pattern=parsed["PATTERN"],
        semantics=parsed.get("SEMANTICS"),
        where=parsed.get("WHERE"),
        group_by=parsed.get("GROUP-BY", ()),
        having=parsed.get("HAVING"),
        within=parsed["WITHIN"],
        slide=parsed.get("SLIDE"),
        span=query.clauses["QUERY" if "QUERY" in query.clauses else "RETURN"].keyword_span,
    )


@cache
def _grammar() -> Lark:
    text = files("runtime.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        start=sorted(set(START.values())),
        propagate_positions=True,
        maybe_placeholders=True,
    )


def _clause(source: Source, clause: Clause) -> Any:
    text = source.text[clause.body[0] : clause.body[1]]
    try:
        tree = _grammar().parse(text, start=START[clause.keyword])
        return Builder(source, clause.body[0]).transform(tree)
    except UnexpectedInput as error:
        raise _syntax_error(source, clause, error) from None
    except (RecursionError, VisitError) as error:
        cause = error.orig_exc if isinstance(error, VisitError) else error
        if not isinstance(cause, RecursionError):
            raise
        message = f"this {clause.keyword} clause is nested too deeply"
        raise source.error(message, clause.keyword_span) from None


def _syntax_error(source: Source, clause: Clause, error: UnexpectedInput) -> QueryError:
    expected, found, span = _what_and_where(source, clause, error)
    message = f"expected {expected}, found {found}"
    return source.error(message, span, _hint(clause, found))


def _what_and_where(
    source: Source, clause: Clause, error: UnexpectedInput
) -> tuple[str, str, s.Span]:
    base = clause.body[0]
    if isinstance(error, UnexpectedToken):
        token: Token = error.token
        expected = _spoken(error.accepts or error.expected)
        if token.type == "$END":
            text = source.text[: clause.body[1]].rstrip()
            at = max(clause.keyword_span[1], len(text))
            return expected, f"the end of the {clause.keyword} clause", (at, at + 1)
        start = base + (token.start_pos or 0)
        return expected, f"`{token}`", (start, start + len(token))
    assert isinstance(error, UnexpectedCharacters)
    start = base + (error.pos_in_stream or 0)
    return _spoken(error.allowed or ()), f"`{source.text[start]}`", (start, start + 1)


def _spoken(terminals: Iterable[str]) -> str:
    words = sorted({SPOKEN.get(name, name) for name in terminals}, key=lambda w: (w[0] < "A", w))
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _hint(clause: Clause, found: str) -> str | None:
    if found == "`|`" and clause.keyword == "PATTERN":
        return "put an alternative in brackets: NOT (X | Y)"
    if found == "`&`" and clause.keyword == "PATTERN":
        return "`&` joins two whole patterns, and stands once, outermost"
    if found == '`"`':
        return "names stand in double quotes, text in single quotes"
    if found == "`;`":
        return "queries need no semicolon between them"
    if found.lower() == "`not`" and clause.keyword == "PATTERN":
        return "NOT stands for itself in a sequence: SEQ(A, NOT X, B)"
    if found == "`.`" and clause.keyword == "RETURN":
        return "a group attribute is written without its type"
    return None
