"""Explains why a clause does not parse: what was found, what was expected, and a hint."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from runtime.errors import suggest
from runtime.language.ast import CLAUSES, OPERATORS, Span, quoted
from runtime.language.splitter import Clause, SourceText, shown_token


@dataclass(frozen=True)
class UnexpectedText:
    """`span` is that of the first unexpected token, empty at the end of the clause; `accepts` are
    the terminals that the grammar expects."""

    source: SourceText
    clause: Clause
    span: Span
    accepts: frozenset[str]

    @cached_property
    def found(self) -> str:
        return self.source.text[self.span[0] : self.span[1]]

    @cached_property
    def before(self) -> str:
        """The clause up to the error."""
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
        """The word before an unexpected bracket: an unknown function."""
        start = end = len(self.before)
        while start and (self.before[start - 1].isalnum() or self.before[start - 1] == "_"):
            start -= 1
        if self.found != "(" or start == end or self.before[start].isdigit():
            return None
        return (self.clause.body[0] + start, self.clause.body[0] + end)

    def spoken(self) -> str:
        return (
            f"the end of the {self.clause.keyword} clause"
            if self.at_end
            else shown_token(self.found)
        )


# ---- expected tokens ------------------------------------------------------------------------

_LITERAL = frozenset(("NUMBER", "STRING", "TRUE", "FALSE", "PLUS", "MINUS"))
_VALUE = _LITERAL | {"NEXT", "FUNCTION", "BARE", "QUOTED", "LPAR"}

# The names of sets of terminals; a set comes before its subsets.
PHRASES = (
    (_VALUE | {"NOT", "LSQB", "LENGTH"}, "a condition"),
    (_VALUE, "a value"),
    (_LITERAL, "a number, 'text', TRUE or FALSE"),
    (frozenset(("COMPARE", "IN", "NOT", "BETWEEN", "IS")), "a comparison"),
    (frozenset(("BARE", "QUOTED", "SEQ", "LPAR", "NOT")), "a pattern"),
    (frozenset(("BARE", "QUOTED", "SEQ", "LPAR")), "a pattern"),
    (frozenset(("FUNCTION", "NAME", "QUOTED")), "an aggregate or a group attribute"),
    (frozenset(("STAR", "BARE", "QUOTED")), "`*` or an event"),
    (frozenset(("NAME", "QUOTED")), "a name"),
    (frozenset(("BARE", "QUOTED")), "an alias"),
)
# The names of single terminals, in the order in which messages list them.
SPOKEN = {
    "NUMBER": "a number",
    "UNIT": "a unit such as seconds, minutes or events",
    "WORD": "skip-till-any-match, skip-till-next-match or contiguous",
    "COMPARE": "a comparison",
    "DOT": "`.`",
    "COMMA": "`,`",
    "LPAR": "`(`",
    "AS": "AS",
    "AND": "AND",
    "OR": "OR",
    "IN": "IN",
    "BETWEEN": "BETWEEN",
    "NOT": "NOT",
    "NULL": "NULL",
    "RPAR": "`)`",
    "RSQB": "`]`",
}
END = "$END"
# Operators that may continue an expression: they are rarely what is missing.
_OPERATORS = {"PLUS", "MINUS", "STAR", "SLASH", "QMARK", "VBAR", "AMPERSAND"}


def expected(accepts: Iterable[str], keyword: str) -> str:
    """The expected tokens, in a clause that starts with `keyword`."""
    left = set(accepts)
    if {"PLUS", "STAR"} <= left:  # a complete expression precedes
        left -= _OPERATORS
    words = []
    for terminals, phrase in PHRASES:
        if terminals <= left:
            words.append(phrase)
            left -= terminals
    if "a comparison" in words:  # a single value is not a condition yet
        left -= {"AND", "OR", END}
    words += [spoken for terminal, spoken in SPOKEN.items() if terminal in left]
    if END in left:
        words.append(f"the end of the {keyword} clause")
    return _listed(words or sorted(left) or ["something else"])


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


# ---- hints ------------------------------------------------------------------------------------

_BRACKETS = re.compile(r"""--[^\n]*|'(?:[^'\n]|'')*'|"(?:[^"\n]|"")*"|([()\[\]])""")

_WORD = re.compile(r"\w+")

IN_PATTERN = {
    "AS": "write an alias right after its type: Request R",
    "AND": "events in a row are separated by commas, pairs of trends by `&`",
    "OR": "alternatives are separated by `|`",
    "NOT": "NOT is a separate item of a sequence: SEQ(A, NOT X, B)",
    "SEQ": "a sequence has brackets: SEQ(A, B)",
    "|": "put an alternative in brackets: NOT (X | Y)",
    "&": "`&` joins two whole patterns, once and at the top",
    "(": "events are separated by commas, and a sequence is written SEQ(A, B)",
    "-": "a sequence is written SEQ(A, B)",
}
IN_CONDITION = {
    "NULL": "write IS NULL or IS NOT NULL",
    "!": "different is written `!=`, the opposite of a condition NOT",
    "&": "conditions are joined with AND",
    ",": "conditions are joined with AND",
    "|": "alternatives are joined with OR",
}
IN_RETURN = {
    "*": "the number of trends is COUNT(*)",
    ".": "group attributes have no alias, attributes of events need an aggregate: AVG(E.x)",
}
ANYWHERE = {
    ";": "queries need no semicolon between them",
    "#": "a comment starts with --",
    "`": 'write a name that is not an identifier in double quotes: "2"',
    **dict.fromkeys("‘’‚‛“”„‟«»", "quotes are straight: 'text' and \"name\""),
}


def hint(unexpected: UnexpectedText) -> str | None:
    """The hint of the first rule that has one."""
    return next((answer for rule in RULES if (answer := rule(unexpected)) is not None), None)


def _misspelt_clause(unexpected: UnexpectedText) -> str | None:
    return f"did you mean {unexpected.meant}?" if unexpected.meant else None


def _empty_name(unexpected: UnexpectedText) -> str | None:
    return "a name in quotes cannot be empty" if unexpected.found == '"' else None


def _spare_comma(unexpected: UnexpectedText) -> str | None:
    if unexpected.before.endswith(",") and unexpected.found in ("", ")", "]"):
        return "there is a comma too many before it"
    if unexpected.found == "," and unexpected.accepts == {"$END"}:
        return "clauses need no comma between them"
    return None


def _bracket(unexpected: UnexpectedText) -> str | None:
    """A bracket that is not closed, or one too many."""
    opened: list[int] = []
    text = unexpected.source.text
    for token in _BRACKETS.finditer(text, unexpected.clause.body[0], unexpected.span[0]):
        if token.group(1) in ("(", "["):
            opened.append(token.start())
        elif token.group(1) and opened:
            opened.pop()
    if unexpected.at_end and opened and unexpected.accepts & {"RPAR", "RSQB"}:
        place = unexpected.source.place((opened[-1], opened[-1] + 1))
        return f"the `{text[opened[-1]]}` at {place.line}:{place.column} is not closed"
    if unexpected.found in (")", "]") and not opened:
        return "no bracket is open here"
    return None


def _keyword_as_name(unexpected: UnexpectedText) -> str | None:
    """A clause keyword on the same line, where only a name is missing."""
    wanted = unexpected.accepts & {"NAME", "BARE"} and "$END" not in unexpected.accepts
    word = _WORD.match(unexpected.source.text, unexpected.clause.body[1])
    started = unexpected.before or unexpected.clause.keyword == "GROUP-BY"
    if not (unexpected.at_end and wanted and word and started):
        return None
    between = unexpected.source.text[unexpected.span[0] : unexpected.clause.body[1]]
    if "\n" in between or "--" in between:
        return None
    return f"if {word.group()} is a name here, it is written {quoted(word.group())}"


def _by_word(unexpected: UnexpectedText) -> str | None:
    found, keyword = unexpected.found.upper(), unexpected.clause.keyword
    if found in ("|", ",") and unexpected.accepts & {"SEQ", "NUMBER"}:
        return None  # something is missing before it
    if keyword == "PATTERN" and found in IN_PATTERN:
        return IN_PATTERN[found]
    if keyword in ("WHERE", "HAVING") and found in IN_CONDITION:
        return IN_CONDITION[found]
    if keyword == "RETURN" and found in IN_RETURN:
        return IN_RETURN[found]
    return ANYWHERE.get(found)


def _comparison(unexpected: UnexpectedText) -> str | None:
    """`a == b`, and `a < b < c`."""
    if unexpected.found == "=" and unexpected.before.endswith("="):
        return "equal is written `=`, different `!=`"
    if unexpected.found in ("=", "<", ">", "<=", ">=", "!=", "<>") and "AND" in unexpected.accepts:
        return "two comparisons are joined with AND"
    return None


def _next(unexpected: UnexpectedText) -> str | None:
    """`NEXT(T)`, and `NEXT(T.x)`."""
    inside = re.search(r"\bNEXT\s*\([^()]*\Z", unexpected.before, re.IGNORECASE)
    if unexpected.accepts == {"DOT"} or (unexpected.found == "." and inside):
        return "an attribute of the next event is written NEXT(E).x"
    return None


def _reserved(unexpected: UnexpectedText) -> str | None:
    if unexpected.clause.keyword in ("PATTERN", "RETURN") and unexpected.found.upper() in OPERATORS:
        return (
            f"{unexpected.found} is a keyword; as a name it is written {quoted(unexpected.found)}"
        )
    return None


def _not_an_identifier(unexpected: UnexpectedText) -> str | None:
    if unexpected.clause.keyword in ("PATTERN", "QUERY", "GROUP-BY", "RETURN"):
        if unexpected.found[:1].isdigit():
            word = _WORD.match(unexpected.source.text, unexpected.span[0])
            name = word.group() if word else unexpected.found
            return f'write a name that is not an identifier in double quotes: "{name}"'
        if unexpected.found[:1] == "'":
            return "write names in double quotes, text in single quotes"
    return None


def _comment(unexpected: UnexpectedText) -> str | None:
    slashes = unexpected.found in ("/", "*") and unexpected.before.endswith("/")
    return "a comment starts with --" if slashes else None


def _owned_attribute(unexpected: UnexpectedText) -> str | None:
    if unexpected.found == "." and unexpected.clause.keyword in ("GROUP-BY", "WHERE"):
        return "an attribute of all events is written without an alias"
    return None


def _number(unexpected: UnexpectedText) -> str | None:
    """`.5`, and `1 hour 30 minutes`."""
    after = unexpected.source.text[unexpected.span[1] : unexpected.span[1] + 1]
    if unexpected.found == "." and after.isdigit() and "NUMBER" in unexpected.accepts:
        return f"write 0.{after}"
    if unexpected.clause.keyword in ("WITHIN", "SLIDE") and unexpected.found[:1].isdigit():
        return "a length is one number with one unit: 90 minutes"
    return None


def _semantics(unexpected: UnexpectedText) -> str | None:
    if unexpected.clause.keyword == "SEMANTICS" and "WORD" not in unexpected.accepts:
        return "one of skip-till-any-match, skip-till-next-match, contiguous"
    return None


RULES = (
    _misspelt_clause,
    _empty_name,
    _keyword_as_name,
    _spare_comma,
    _bracket,
    _comparison,
    _next,
    _by_word,
    _reserved,
    _not_an_identifier,
    _comment,
    _number,
    _owned_attribute,
    _semantics,
)
