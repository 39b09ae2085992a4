"""Collects the errors of a file, so that checking continues after the first."""

from __future__ import annotations

from runtime.errors import QueryError
from runtime.language.ast import Span
from runtime.language.splitter import SourceText


class ErrorCollector:
    def __init__(self, source: SourceText, errors: list[QueryError]) -> None:
        self.source = source
        self.errors = errors

    def __call__(self, message: str, span: Span, hint: str | None = None) -> None:
        self.errors.append(self.source.error(message, span, hint))

    def line(self, span: Span) -> int:
        return self.source.place(span).line
