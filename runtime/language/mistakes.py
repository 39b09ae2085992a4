"""Where a clause stops making sense: what stands there, and what could."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from runtime.errors import suggest
from runtime.language.ast import CLAUSES, Span
from runtime.language.expected import found
from runtime.language.splitter import Clause, Source


@dataclass(frozen=True)
class Mistake:
    """`span` is that of the first token that does not fit, empty at the end of the clause;
    `accepts` are the terminals of the grammar that would."""

    source: Source
    clause: Clause
    span: Span
    accepts: frozenset[str]

    @cached_property
    def found(self) -> str:
        return self.source.text[self.span[0] : self.span[1]]

    @cached_property
    def before(self) -> str:
        """The clause up to the mistake."""
        return self.source.text[self.clause.body[0] : self.span[0]].rstrip()

    @property
    def at_end(self) -> bool:
        return self.span[0] == self.span[1]

    @cached_property
    def meant(self) -> str | None:
        """The clause keyword that this is probably a misspelling of."""
        word = self.found.upper()
        if len(word) < 4 or not word[0].isalpha() or word in CLAUSES:
            return None
        return suggest(self.found, CLAUSES, cutoff=0.75)

    @cached_property
    def called(self) -> Span | None:
        """The word before a bracket that cannot stand there: a function we do not have."""
        start = end = len(self.before)
        while start and (self.before[start - 1].isalnum() or self.before[start - 1] == "_"):
            start -= 1
        if self.found != "(" or start == end or self.before[start].isdigit():
            return None
        return (self.clause.body[0] + start, self.clause.body[0] + end)

    def spoken(self) -> str:
        return f"the end of the {self.clause.keyword} clause" if self.at_end else found(self.found)
