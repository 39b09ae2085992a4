"""Whatever the text, `parse` returns, or says where it is wrong; it takes long over neither."""

import time
import unicodedata
from pathlib import Path
from random import Random

import pytest

from language.golden import Goldens
from language.mangle import RIGHT, mangled
from runtime.errors import QueryError, WorkloadError
from runtime.language.parser import parse
from runtime.language.splitter import SourceText

WRONG = Goldens(*(Path(__file__).parent / "wrong").glob("*.txt")).pairs.values()
CORPUS = (*RIGHT, *(pair.given for pair in WRONG))
MOST_SECONDS = 1.0


def check(text: str) -> float:
    """Parses, holds the errors to what they promise, and returns the seconds that it took."""
    errors: tuple[QueryError, ...] = ()
    rendered = ""
    start = time.process_time()
    try:
        parse(text, "fuzz.sase")
    except WorkloadError as error:
        errors, rendered = error.errors, error.render()
    seconds = time.process_time() - start
    rendered.encode()
    lines = SourceText.read(text, "").lines
    for error in errors:
        _is_well_formed(error, lines)
    return seconds


def _is_well_formed(error: QueryError, lines: list[str]) -> None:
    place = error.place
    assert 1 <= place.line <= len(lines)
    assert place.source == lines[place.line - 1]
    assert 1 <= place.column <= len(place.source) + 1
    assert place.length >= 1
    assert error.message
    heading, source, carets, *hint = error.render().split("\n")
    assert heading.startswith(f"fuzz.sase:{place.line}:{place.column}: error: ")
    assert "__" not in error.message or "__" in "".join(lines)  # no name of a grammar rule
    assert len(hint) <= 1
    assert carets.strip(" \t|^") == ""
    assert carets.count("^") >= 1
    assert _width(carets) <= _width(source) + 1


def _width(text: str) -> int:
    narrow = ("Mn", "Me")
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.category(c) in narrow for c in text)


def run(seed: int, times: int) -> None:
    random = Random(seed)
    parse(RIGHT[0])  # reads the grammar
    for _ in range(times):
        text = mangled(random, CORPUS)
        try:
            seconds = check(text)
        except Exception:
            print(f"seed {seed}: {text!r}")
            raise
        assert seconds < MOST_SECONDS, f"seed {seed}: {seconds:.2f} s for {text!r}"


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_mangled_was_right(text):
    parse(text)


@pytest.mark.parametrize("seed", range(3))
def test_some_texts(seed):
    run(seed, 1_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_texts(seed):
    run(seed, 10_000)


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN " * 2_000,
        "RETURN " * 2_000,
        "GROUP" + " " * 20_000 + "x",
        "RETURN COUNT(*) PATTERN A WITHIN 1 s " + "GROUP " * 2_000,
        "RETURN COUNT(*) PATTERN A WHERE A.x = '" + "'" * 20_000 + " WITHIN 1 s",
        "RETURN COUNT(*) PATTERN " + "a" * 50_000 + " WITHIN 1 s",
        "RETURN COUNT(" + "a" * 50_000 + ") PATTERN " + "b" * 50_000 + " WITHIN 1 s",
        "RETURN COUNT(*) PATTERN A WHERE A.x < " + "9" * 50_000 + " WITHIN 1 s",
        "RETURN COUNT(*) PATTERN A WHERE " + "(" * 2_000 + "A.x = 1" + ")" * 2_000 + " WITHIN 1 s",
        "RETURN COUNT(*) PATTERN " + ", ".join(["A?"] * 63) + ", A WITHIN 1 s",
        "RETURN COUNT(x) PATTERN (" + " | ".join(["A"] * 60) + ")+, B x, C, B WITHIN 1 s",
        "RETURN COUNT(x) PATTERN (" + " | ".join(["A"] * 60) + ")+, B x+, B+ WITHIN 1 s",
        "RETURN COUNT(*) PATTERN (A, " + ", ".join(f"NOT X{i}, B{i}?" for i in range(12)) + ")+ "
        "WITHIN 1 s",
        "\n".join(["RETURN COUNT(x) PATTERN A WITHIN 1 s"] * 150),
        "\t" * 20_000 + "?",
        "駅" * 20_000,
    ],
    ids=lambda text: text[:40],
)
def test_nothing_is_quadratic_that_hurts(text):
    parse(RIGHT[0])
    assert check(text) < MOST_SECONDS
