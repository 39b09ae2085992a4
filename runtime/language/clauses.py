"""Cuts a query file into queries and clauses, before any grammar looks at it.

Cutting first is what lets `check` report every mistake of a file in one go: a clause that does
not parse says so by itself, and the next one is read as if nothing had happened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from runtime.errors import Place, QueryError
from runtime.language.syntax import Span

CLAUSES = (
    "QUERY",
    "RETURN",
    "PATTERN",
    "SEMANTICS",
    "WHERE",
    "GROUP-BY",
    "HAVING",
    "WITHIN",
    "SLIDE",
)
REQUIRED = ("RETURN", "PATTERN", "WITHIN")
MOST_NESTING = 100

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*)
      | (?P<quote>'(?:[^'\n]|'')*' | "(?:[^"\n]|"")*")
      | (?P<open_quote>['"])
      | (?P<attribute>\.\s*[^\W\d]\w*)
      | (?P<group>GROUP\s*-?\s*BY\b)
      | (?P<word>[^\W\d][\w]*)
      | (?P<bracket>[()\[\]])""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Source:
    """The text of a query file; turns offsets into places."""

    text: str
    file: str = "<query>"

    def place(self, span: Span) -> Place:
        start = min(span[0], len(self.text))
        line = self.text.count("\n", 0, start) + 1
        begin = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", begin)
        source = self.text[begin : end if end >= 0 else len(self.text)].rstrip("\r")
        column = min(start - begin, len(source)) + 1
        return Place(self.file, line, column, max(1, span[1] - span[0]), source)

    def error(self, message: str, span: Span, hint: str | None = None) -> QueryError:
        return QueryError(message, self.place(span), hint)


@dataclass(frozen=True)
class Clause:
    keyword: str
    keyword_span: Span
    body: Span


@dataclass(frozen=True)
class QueryClauses:
    """The clauses of one query, by keyword, and the span of the whole."""

    clauses: dict[str, Clause]
    span: Span


def cut(source: Source) -> tuple[list[QueryClauses], list[QueryError]]:
    """The queries of a file. What cannot be cut is reported; what can is returned."""
    errors: list[QueryError] = []
    marks = _marks(source, errors)
    lead = (0, marks[0].keyword_span[0]) if marks else (0, len(source.text))
    if stray := _first_word(source, lead):
        hint = "a query starts with QUERY or RETURN"
        errors.append(source.error("text before the first query", stray, hint))
    queries = []
    for group in _by_query(marks):
        queries.append(_collect(source, group, errors))
    return queries, errors


def _marks(source: Source, errors: list[QueryError]) -> list[Clause]:
    """Every clause keyword with what follows it up to the next keyword."""
    found: list[tuple[str, Span]] = []
    depth = 0
    for token in _TOKEN.finditer(source.text):
        word = token.group("word")
        if token.group("open_quote"):
            kind = "text" if token.group() == "'" else "name"
            errors.append(source.error(f"this quoted {kind} does not end", token.span()))
        elif token.group("bracket"):
            depth = depth + 1 if token.group() in "([" else max(0, depth - 1)
            if depth == MOST_NESTING:
                errors.append(source.error("brackets nested too deeply", token.span()))
        elif token.group("group"):
            found.append(("GROUP-BY", token.span()))
        elif word and word.upper() in CLAUSES:
            found.append((word.upper(), token.span()))
            depth = 0
    ends = [span[0] for _, span in found[1:]] + [len(source.text)]
    return [
        Clause(word, span, (span[1], end)) for (word, span), end in zip(found, ends, strict=False)
    ]


def _by_query(marks: list[Clause]) -> list[list[Clause]]:
    """QUERY starts a query, and so does a RETURN where the one before already has its own."""
    queries: list[list[Clause]] = []
    for mark in marks:
        has_return = bool(queries) and any(c.keyword == "RETURN" for c in queries[-1])
        if not queries or mark.keyword == "QUERY" or (mark.keyword == "RETURN" and has_return):
            queries.append([])
        queries[-1].append(mark)
    return queries


def _collect(source: Source, group: list[Clause], errors: list[QueryError]) -> QueryClauses:
    clauses: dict[str, Clause] = {}
    for clause in group:
        if clause.keyword in clauses:
            message = f"{clause.keyword} stands twice in this query"
            hint = None
            if clause.keyword == "PATTERN":
                hint = "a new query starts with QUERY or RETURN"
            errors.append(source.error(message, clause.keyword_span, hint))
        else:
            clauses[clause.keyword] = clause
    whole = (group[0].keyword_span[0], group[-1].body[1])
    for keyword in REQUIRED:
        if keyword not in clauses:
            errors.append(_missing(source, keyword, group))
    return QueryClauses(clauses, whole)


def _missing(source: Source, keyword: str, group: list[Clause]) -> QueryError:
    example = {
        "RETURN": "RETURN COUNT(*)",
        "PATTERN": "PATTERN SEQ(A, B+)",
        "WITHIN": "WITHIN 10 minutes SLIDE 1 minute",
    }[keyword]
    # Point at where the clause belongs: the start for RETURN, else the end of the last clause.
    if keyword == "RETURN":
        span = group[0].keyword_span
    else:
        text = source.text[: group[-1].body[1]].rstrip()
        span = (max(0, len(text) - 1), len(text))
    return source.error(f"this query has no {keyword} clause", span, f"for example: {example}")


def _first_word(source: Source, span: Span) -> Span | None:
    for token in re.finditer(r"--[^\n]*|\S+", source.text[span[0] : span[1]]):
        if not token.group().startswith("--"):
            return (span[0] + token.start(), span[0] + token.end())
    return None
