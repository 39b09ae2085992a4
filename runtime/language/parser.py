"""Parses the text of queries with lark; each clause has a start symbol of its own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from runtime.errors import QueryError, WorkloadError
from runtime.language import ast as s
from runtime.language.aggregates import AGGREGATES
from runtime.language.ast_builder import Builder
from runtime.language.binder import resolve
from runtime.language.query import Workload
from runtime.language.splitter import REQUIRED, Clause, QueryClauses, SourceText, split_queries
from runtime.language.syntax_errors import UnexpectedText, expected, hint

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

# The functions of each clause. PATTERN has only SEQ, and there a comma may be missing instead.
FUNCTIONS = {
    "RETURN": tuple(AGGREGATES),
    "HAVING": tuple(AGGREGATES),
    "WHERE": ("NEXT",),
}
MOST_NESTING = 100


def parse(text: str, file: str = "<query>") -> Workload:
    """Parses and checks all queries of a text. Raises `WorkloadError` with all its errors."""
    source = SourceText.read(text, file)
    _check_characters(source)
    queries, errors = split_queries(source)
    if not queries and not errors:
        example = " ".join(REQUIRED.values())
        at = len(source.text.rstrip())
        errors.append(source.error("there is no query here", (at, at), f"for example: {example}"))
    written = [_query_text(source, clauses, errors) for clauses in queries]
    resolved = resolve(source, written, errors)
    if errors:
        raise WorkloadError(errors)
    return Workload(tuple(resolved), source)


def _check_characters(source: SourceText) -> None:
    """Rejects half of a surrogate pair: it cannot be written to any file."""
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        message = f"U+{ord(source.text[error.start]):04X} is not a whole character"
        raise WorkloadError([source.error(message, (error.start, error.start + 1))]) from None


def _query_text(
    source: SourceText, query: QueryClauses, errors: list[QueryError]
) -> s.QueryText | None:
    """The query's syntax, or None if a clause does not parse."""
    parsed: dict[str, Any] = {}
    for keyword, clause in query.clauses.items():
        if clause.readable:
            try:
                parsed[keyword] = _clause(source, clause)
            except UnexpectedInput as error:
                unexpected = _unexpected(source, clause, error)
                errors.append(_syntax_error(unexpected))
                query.excused.add(unexpected.meant or "")
            except QueryError as error:
                errors.append(error)
    if missing := query.missing():
        errors.append(_missing(source, query, missing))
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
        span=query.first.keyword_span,
    )


def _missing(source: SourceText, query: QueryClauses, keywords: list[str]) -> QueryError:
    message = f"this query has no {' and no '.join(keywords)} clause"
    example = " ".join(REQUIRED[keyword] for keyword in keywords)
    return source.error(message, query.first.keyword_span, f"for example: {example}")


@cache
def _grammar() -> Lark:
    text = files("runtime.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        text.replace("__FUNCTIONS__", "|".join(AGGREGATES)),
        parser="lalr",
        start=sorted(set(START.values())),
        propagate_positions=True,
        maybe_placeholders=True,
    )


def _clause(source: SourceText, clause: Clause) -> Any:
    text = source.text[clause.body[0] : clause.body[1]]
    tree = _grammar().parse(text, start=START[clause.keyword])
    # Later passes are recursive; only a text longer than the limit can exceed it.
    if len(text) > MOST_NESTING and _is_deep(tree):
        message = f"this {clause.keyword} clause is nested more than {MOST_NESTING} deep"
        raise source.error(message, clause.keyword_span)
    return Builder(clause.body[0]).build(tree)


def _is_deep(tree: Tree[Any]) -> bool:
    level: list[Any] = [tree]
    for _ in range(MOST_NESTING):
        level = [child for node in level if isinstance(node, Tree) for child in node.children]
    return bool(level)


# ---- errors of a clause that does not parse ------------------------------------------------


def _unexpected(source: SourceText, clause: Clause, error: UnexpectedInput) -> UnexpectedText:
    base = clause.body[0]
    accepts: frozenset[str] = frozenset()
    start, length = error.pos_in_stream or 0, 1
    if isinstance(error, UnexpectedToken):
        token, accepts = error.token, frozenset(error.accepts or ())
        # The end has the position of the last token, if there is one.
        start = (token.end_pos if token.type == "$END" else token.start_pos) or 0
        length = len(token)
    at = base + start
    accepts = accepts or _accepts(clause, source.text[base:at])
    return UnexpectedText(source, clause, (at, at + length), accepts)


def _accepts(clause: Clause, before: str) -> frozenset[str]:
    """The terminals that could follow. lark does not report them for a character that starts no
    token, nor after a wrong bracket that seemed to complete the clause."""
    parser = _grammar().parse_interactive(before, start=START[clause.keyword])
    parser.exhaust_lexer()
    return frozenset(parser.accepts())  # type: ignore[no-untyped-call]


def _syntax_error(unexpected: UnexpectedText) -> QueryError:
    functions = FUNCTIONS.get(unexpected.clause.keyword)
    if functions is not None and unexpected.called is not None:
        name = unexpected.source.text[slice(*unexpected.called)]
        known = f"there is {', '.join(functions)}"
        return unexpected.source.error(f"unknown function `{name}`", unexpected.called, known)
    words = expected(unexpected.accepts, unexpected.clause.keyword)
    message = f"expected {words}, found {unexpected.spoken()}"
    return unexpected.source.error(message, unexpected.span, hint(unexpected))
