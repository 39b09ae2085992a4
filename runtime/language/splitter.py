"""Splits a query file into queries and clauses, before the grammar parses each clause.

So `check` reports all errors of a file at once: a clause that does not parse does not affect the
next one.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from runtime.errors import ErrorLocation, QueryError, suggest
from runtime.language.ast import CLAUSES, Span

REQUIRED = {
    "RETURN": "RETURN COUNT(*)",
    "PATTERN": "PATTERN SEQ(A, B+)",
    "WITHIN": "WITHIN 10 minutes",
}

# Hints for a second clause of the same kind that may not be a new query.
JOINED = {
    "WHERE": "conditions are joined with AND",
    "HAVING": "conditions are joined with AND",
    "GROUP-BY": "attributes are separated by commas",
}

# A clause keyword is a name if no clause can start there: after a dot or AS, before a separator.
_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*)
      | (?P<quote>'(?:[^'\n]|'')*' | "(?:[^"\n]|"")*")
      | (?P<open_quote>['"][^\n]*)
      | (?P<name>\.[ \t]*[^\W\d]\w* | \bAS[ \t]+[^\W\d]\w* | [^\W\d]\w*(?=[,.)\]]))
      | (?P<group>GROUP(?:\s*-\s*|\s*)BY\b)
      | (?P<word>[^\W\d]\w*)""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class SourceText:
    """The text of a query file; converts offsets to lines and columns."""

    text: str
    file: str = "<query>"

    @classmethod
    def read(cls, text: str, file: str) -> SourceText:
        """Normalises line ends and drops a byte order mark."""
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        return cls(text, file)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        """The start of each line. Cached, since a file may have as many errors as lines."""
        return list(accumulate((len(line) + 1 for line in self.lines), initial=0))

    def place(self, span: Span) -> ErrorLocation:
        start = min(span[0], len(self.text))
        line = bisect_right(self._starts, start)
        source = self.lines[line - 1]
        column = start - self._starts[line - 1] + 1
        return ErrorLocation(self.file, line, column, max(1, span[1] - span[0]), source)

    def error(self, message: str, span: Span, hint: str | None = None) -> QueryError:
        return QueryError(message, self.place(span), hint)


@dataclass(frozen=True)
class Clause:
    """A keyword and the text up to the next keyword. Not `readable` if it has an open quote: that
    is already reported, and the end of the clause is unknown."""

    keyword: str
    keyword_span: Span
    body: Span
    readable: bool = True


@dataclass(frozen=True)
class QueryClauses:
    """The clauses of one query, by keyword. `excused` are clauses that are probably present in
    text with a reported error, so they are not reported as missing."""

    clauses: dict[str, Clause]
    first: Clause
    excused: set[str] = field(default_factory=set)

    def missing(self) -> list[str]:
        return [word for word in REQUIRED if word not in self.clauses and word not in self.excused]


def split_queries(source: SourceText) -> tuple[list[QueryClauses], list[QueryError]]:
    """The queries of a file, and the errors of text that cannot be split."""
    keywords, open_quotes = _scan(source.text)
    errors = [_open_quote(source, at) for at in open_quotes]
    marks = _marks(keywords, open_quotes, len(source.text))
    queries = [_collect(source, group, errors) for group in _by_query(marks)]
    stray = _first_word(source.text[: marks[0].keyword_span[0]] if marks else source.text)
    if stray is not None and stray[0] not in open_quotes:
        _report_stray(source, stray, queries, errors)
    return queries, errors


def _scan(text: str) -> tuple[list[tuple[str, Span]], list[int]]:
    """The clause keywords, and the starts of quotes that do not end on their line."""
    keywords: list[tuple[str, Span]] = []
    open_quotes: list[int] = []
    for token in _TOKEN.finditer(text):
        kind, word = token.lastgroup, token.group()
        if kind == "open_quote":
            open_quotes.append(token.start())
        elif kind == "group":
            keywords.append(("GROUP-BY", token.span()))
        elif kind == "word" and word.isascii() and word.upper() in CLAUSES:
            keywords.append((word.upper(), token.span()))
    return keywords, open_quotes


def _marks(keywords: list[tuple[str, Span]], open_quotes: list[int], length: int) -> list[Clause]:
    """Every clause keyword with the text up to the next keyword."""
    marks = []
    ends = [span[0] for _, span in keywords[1:]] + [length]
    for (word, span), end in zip(keywords, ends, strict=False):
        readable = bisect_left(open_quotes, span[1]) == bisect_left(open_quotes, end)
        marks.append(Clause(word, span, (span[1], end), readable))
    return marks


def _open_quote(source: SourceText, at: int) -> QueryError:
    mark = source.text[at]
    kind = "text" if mark == "'" else "name"
    hint = f"it must end with {mark} on the same line; inside it, {mark} is written twice"
    return source.error(f"this quoted {kind} does not end", (at, at + 1), hint)


def _report_stray(
    source: SourceText, span: Span, queries: list[QueryClauses], errors: list[QueryError]
) -> None:
    word = source.text[span[0] : span[1]]
    meant = suggest(word, ("QUERY", "RETURN"))
    hint = f"did you mean {meant}?" if meant else f"for example: {' '.join(REQUIRED.values())}"
    if word in ("/", "#"):
        hint = "a comment starts with --"
    errors.append(source.error(f"expected QUERY or RETURN, found {shown_token(word)}", span, hint))
    if meant and queries:
        queries[0].excused.add("RETURN")


def _by_query(marks: Iterable[Clause]) -> list[list[Clause]]:
    """QUERY starts a query, and so does a RETURN if the query before already has one."""
    queries: list[list[Clause]] = []
    has_return = False
    for mark in marks:
        returns = mark.keyword == "RETURN"
        if not queries or mark.keyword == "QUERY" or (returns and has_return):
            queries.append([])
            has_return = False
        has_return = has_return or returns
        queries[-1].append(mark)
    return queries


def _collect(source: SourceText, group: list[Clause], errors: list[QueryError]) -> QueryClauses:
    query = QueryClauses({}, group[0])
    for clause in group:
        if clause.keyword in query.clauses:
            message = f"{clause.keyword} appears twice in this query"
            hint = JOINED.get(clause.keyword, "the next query starts with QUERY or RETURN")
            errors.append(source.error(message, clause.keyword_span, hint))
        else:
            query.clauses[clause.keyword] = clause
        if not clause.readable:
            query.excused.update(REQUIRED)
    return query


def _first_word(text: str) -> Span | None:
    for token in re.finditer(r"--[^\n]*|\w+|\S", text):
        if not token.group().startswith("--"):
            return token.span()
    return None


def shown_token(text: str) -> str:
    """A token in backquotes; an invisible character by its code point."""
    if text == "`":
        return "a backquote"
    if len(text) == 1 and (not text.isprintable() or unicodedata.combining(text)):
        name = unicodedata.name(text, "control character").lower()
        return f"U+{ord(text):04X} ({name})"
    return f"`{text}`"
