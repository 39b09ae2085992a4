"""Whatever the text, `parse` returns or says where it is wrong; its steps grow with the text."""

import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
# Calls and returns for each character. The corpus needs some 500 of them.
MOST_STEPS = 5_000


def check(text: str) -> int:
    """Parses, holds the errors to what they promise, and returns the steps that it took."""
    with counted() as steps:
        errors, rendered = errors_of(text)
    rendered.encode()
    lines = SourceText.read(text, "").lines
    for error in errors:
        _is_well_formed(error, lines)
    return steps[0]


def errors_of(text: str) -> tuple[tuple[QueryError, ...], str]:
    try:
        parse(text, "fuzz.sase")
    except WorkloadError as error:
        return error.errors, error.render()
    return (), ""


@contextmanager
def counted() -> Iterator[list[int]]:
    """Counts calls and returns of functions, those written in C too. Unlike a time, the count is
    the same on every machine."""
    steps = [0]

    def count(*_: object) -> None:
        steps[0] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield steps
    finally:
        sys.setprofile(before)


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
            assert check(text) < MOST_STEPS * (len(text) + 100)
        except Exception:
            print(f"seed {seed}: {text!r}")
            raise


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


def alternatives(n: int) -> str:
    return "(" + " | ".join(["A"] * n) + ")+"


def negations(n: int) -> str:
    return ", ".join(f"NOT X{i}, B{i}?" for i in range(n))


# A text that can be as large as one likes, and a size.
GROWING: list[tuple[int, Callable[[int], str]]] = [
    (2_000, lambda n: "PATTERN " * n),
    (2_000, lambda n: "RETURN " * n),
    (20_000, lambda n: "GROUP" + " " * n + "x"),
    (2_000, lambda n: "RETURN COUNT(*) PATTERN A WITHIN 1 s " + "GROUP " * n),
    (20_000, lambda n: "RETURN COUNT(*) PATTERN A WHERE A.x = '" + "'" * n + " WITHIN 1 s"),
    (50_000, lambda n: "RETURN COUNT(*) PATTERN " + "a" * n + " WITHIN 1 s"),
    (50_000, lambda n: f"RETURN COUNT({'a' * n}) PATTERN {'b' * n} WITHIN 1 s"),
    (50_000, lambda n: "RETURN COUNT(*) PATTERN A WHERE A.x < " + "9" * n + " WITHIN 1 s"),
    (2_000, lambda n: f"RETURN COUNT(*) PATTERN A WHERE {'(' * n}A.x = 1{')' * n} WITHIN 1 s"),
    (150, lambda n: "\n".join(["RETURN COUNT(x) PATTERN A WITHIN 1 s"] * n)),
    (20_000, lambda n: "\t" * n + "?"),
    (20_000, lambda n: "駅" * n),
]
# A pattern has at most 64 types, so that the square of their number may count, but not 2 ** n.
PATTERNS: list[tuple[int, Callable[[int], str]]] = [
    (60, lambda n: "RETURN COUNT(*) PATTERN " + "A?, " * n + "A WITHIN 1 s"),
    (60, lambda n: f"RETURN COUNT(x) PATTERN {alternatives(n)}, B x, C, B WITHIN 1 s"),
    (60, lambda n: f"RETURN COUNT(x) PATTERN {alternatives(n)}, B x+, B+ WITHIN 1 s"),
    (12, lambda n: f"RETURN COUNT(*) PATTERN (A, {negations(n)})+ WITHIN 1 s"),
]


def name_of(made: object) -> str | None:
    return made(3)[:40] if callable(made) else None


@pytest.mark.parametrize(("size", "made"), GROWING, ids=name_of)
def test_steps_grow_with_the_text(size, made):
    parse(RIGHT[0])  # reads the grammar
    assert check(made(size // 4)) < 6 * check(made(size // 16))  # squared, it would be 16


@pytest.mark.parametrize(("size", "made"), PATTERNS, ids=name_of)
def test_steps_grow_at_most_with_the_square_of_a_pattern(size, made):
    parse(RIGHT[0])
    assert check(made(size)) < 20 * check(made(size // 4))  # cubed, it would be 64


@pytest.mark.parametrize(("size", "made"), GROWING, ids=name_of)
def test_no_step_is_quadratic(size, made):
    """What regular expressions do is one step, so only the time shows it: of a text and of one 16
    times as large, one after the other."""

    def shortest(text: str) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            errors_of(text)
            times.append(time.process_time() - start)
        return min(times)

    parse(RIGHT[0])
    assert shortest(made(size)) < 80 * shortest(made(size // 16))  # squared, it would be 256
