"""What could stand somewhere and what does, in words for a message."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_LITERAL = frozenset(("NUMBER", "STRING", "TRUE", "FALSE", "PLUS", "MINUS"))
_VALUE = _LITERAL | {"NEXT", "FUNCTION", "BARE", "QUOTED", "LPAR"}

# What a whole set of terminals is called; a set comes before its subsets.
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
# What single terminals are called, in the order in which they are told.
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
# What can go on but need not: it is hardly ever what is missing.
_OPERATORS = {"PLUS", "MINUS", "STAR", "SLASH", "QMARK", "VBAR", "AMPERSAND"}


def expected(accepts: Iterable[str], keyword: str) -> str:
    """What could stand here, in a clause that starts with `keyword`."""
    left = set(accepts)
    if {"PLUS", "STAR"} <= left:  # something complete stands before
        left -= _OPERATORS
    words = []
    for terminals, phrase in PHRASES:
        if terminals <= left:
            words.append(phrase)
            left -= terminals
    if "a comparison" in words:  # a value by itself is no condition yet
        left -= {"AND", "OR", END}
    words += [spoken for terminal, spoken in SPOKEN.items() if terminal in left]
    if END in left:
        words.append(f"the end of the {keyword} clause")
    return _listed(words or sorted(left) or ["something else"])


def found(text: str) -> str:
    """A token, in backquotes; a character by its number where it would not be seen in them."""
    if text == "`":
        return "a backquote"
    if len(text) == 1 and (not text.isprintable() or unicodedata.combining(text)):
        name = unicodedata.name(text, "control character").lower()
        return f"U+{ord(text):04X} ({name})"
    return f"`{text}`"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
