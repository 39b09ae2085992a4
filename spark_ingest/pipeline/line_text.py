"""The text of a row as Spark SQL: whether it is UTF-8, and how a dead letter shows it."""

from __future__ import annotations

from spark_ingest.pipeline import sql

#: Spaces, tabs and line ends of ASCII.
BLANK = " \t\n\r\x0b\x0c"

# One character, as the hexadecimal digits of its bytes.
_NEXT = "[89AB]."
_CHARACTER = "|".join(
    [
        "[0-7].",
        f"(?:C[2-9A-F]|D.){_NEXT}",
        f"(?:E0[AB].|E[1-9A-CEF]{_NEXT}|ED[89].){_NEXT}",
        f"(?:F0[9AB].|F[1-3]{_NEXT}|F48.){_NEXT}{_NEXT}",
    ]
)
# The replacement for the digits of a byte: a regular expression's, so the backslash is doubled.
_ESCAPED = r"\\x$0"
# Control characters whose escapes have letters, which Jackson writes as capitals.
_CONTROLS = "\x0b\x0e\x0f\x1a\x1b\x1c\x1d\x1e\x1f"


def is_utf8(text: str) -> str:
    """Whether the bytes of a string are UTF-8. Decoding replaces those that are not."""
    return f"(decode(CAST({text} AS BINARY), 'UTF-8') = CAST({text} AS STRING))"


def readable(value: str) -> str:
    """A string or binary value as text without the blanks around it. Each byte that is not UTF-8
    is written as `\\xff`."""
    text = f"if({is_utf8(value)}, CAST({value} AS STRING), {_backslashed(value)})"
    return f"trim(BOTH {sql.text(BLANK)} FROM {text})"


def json_string(text: str) -> str:
    """A text as a JSON string, as Python writes it; `null` without one."""
    literal = f"trim(BOTH '[]' FROM to_json(array({text})))"
    small = literal
    for control in _CONTROLS:
        code = f"{ord(control):04x}"
        capital, replacement = rf"(?<!\\)((?:\\\\)*)\\u{code.upper()}", rf"$1\\u{code}"
        small = f"regexp_replace({small}, {sql.text(capital)}, {sql.text(replacement)})"
    return f"if({text} RLIKE {sql.text(f'[{_CONTROLS}]')}, {small}, {literal})"


def _backslashed(value: str) -> str:
    """The bytes are grouped as `GOOD<BAD>GOOD<BAD>GOOD`, in hexadecimal."""
    marked = f"regexp_replace(hex({value}), '({_CHARACTER})|(..)', '$1<$2>')"
    groups = f"replace(replace({marked}, '<>', ''), '><', '')"
    bad = "if(i = 0, '', lower(substring_index(each, '>', 1)))"
    escaped = f"regexp_replace({bad}, '..', {sql.text(_ESCAPED)})"
    good = "decode(unhex(substring_index(each, '>', -1)), 'UTF-8')"
    return f"array_join(transform(split({groups}, '<'), (each, i) -> {escaped} || {good}), '')"
