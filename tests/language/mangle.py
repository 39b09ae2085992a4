"""Makes wrong query texts out of right ones, and out of nothing. The caller seeds `random`."""

import re
from collections.abc import Callable
from random import Random

RIGHT = (
    """QUERY pool_trips
RETURN district, COUNT(*) AS trips, AVG(T.speed)
PATTERN SEQ(Request R, Travel T+, Dropoff D)
SEMANTICS skip-till-any-match
WHERE [driver, rider] AND R.kind = 'Pool' AND T.speed < NEXT(T).speed
GROUP-BY district
HAVING COUNT(*) > 100
WITHIN 30 minutes SLIDE 1 minute
""",
    "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WITHIN 1 minute\n",
    "RETURN COUNT(*) PATTERN SEQ(A, B+) & A+ WHERE [k] WITHIN 10 s SLIDE 5 s\n",
    """-- it's about what did not happen
RETURN COUNT(*), MIN(a.v) AS least
PATTERN SEQ(NOT X, A a, NOT SEQ(X x, NOT Y, Z z+), (B b | C)*, NOT W)
SEMANTICS contiguous
WHERE x.v < NEXT(z).v AND (a.v > 1e3 OR a.w IS NOT NULL) AND NOT a.k IN ('x', 'it''s')
WITHIN 100 ms
""",
    """RETURN k, SUM(A.v), COUNT(A)
PATTERN A x?, A y+
SEMANTICS skip-till-next-match
WHERE x.v BETWEEN -5 AND 5.5 AND y.v * 2 - 1 % 3 > 10 AND x.f = TRUE AND LENGTH >= 3
GROUP BY k HAVING k < 5 OR SUM(A.v) <> 7
WITHIN 20 events SLIDE 4 events
""",
    'QUERY "zwei" RETURN COUNT(b) PATTERN SEQ("2" b+, größe 駅) WHERE b."a b" = 1 WITHIN 1 d\n',
)
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
WORDS = re.findall(
    r"\S+",
    """GROUP BY SEQ NOT AND OR IN BETWEEN IS NULL TRUE FALSE NEXT LENGTH COUNT SUM MIN MAX AVG
    VARIANCE STDDEV AS
    skip-till-any-match contiguous minutes s events A B x T Travel
    ( ) [ ] , . + - * / % ? | & = != <> < > <= >= ' " -- ; : ! # @ $ ^ ~ \\ ` { } 0 1 5.5 1e9""",
)
STRANGE = (
    "\0\x1b\x7f\x85\xa0\xadé\u0301\u0430\u200b\u200f\u2028\u202e\u3000\ufeff\uffff駅ß‘’“”٣"
    "ſıİ😀\U000e0001\ud800\udfff\t\n\r\x0b\x0c"
)
LARGEST = 6_000
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def mangled(random: Random, corpus: tuple[str, ...]) -> str:
    """A text of the corpus after a few mutations, or one made of nothing."""
    if random.random() < 0.1:
        return random.choice(_FROM_NOTHING)(random)[:LARGEST]
    text = random.choice(random.choice((RIGHT, corpus)))
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        text = random.choice(_MUTATIONS)(text, random, corpus)[:LARGEST]
    return text


# ---- from nothing --------------------------------------------------------------------------


def _soup(random: Random) -> str:
    pool = (*CLAUSES, *WORDS)
    return random.choice((" ", "", "\n")).join(random.choices(pool, k=random.randint(0, 60)))


def _clauses(random: Random) -> str:
    """Clause keywords, each with a little soup."""
    return " ".join(f"{random.choice(CLAUSES)} {_soup(random)[:30]}" for _ in range(8))


def _noise(random: Random) -> str:
    return random.randbytes(random.randint(0, 300)).decode(random.choice(("latin-1", "utf-16-le")))


def _safe_noise(random: Random) -> str:
    try:
        return _noise(random)
    except UnicodeDecodeError:
        return random.randbytes(50).decode("utf-8", errors="surrogateescape")


def _deep(random: Random) -> str:
    many = random.choice((10, 99, 100, 101, 150, 1_000, 2_500))
    opening, closing = random.choice(
        (
            ("(", ")"),
            ("SEQ(", ")"),
            ("NOT (", ")"),
            ("(", ")+"),
            ("[", "]"),
            ("-", ""),
            ("NOT ", ""),
        )
    )
    nested = opening * many + random.choice(("A", "A.x = 1", "A.x")) + closing * many
    clause = random.choice(("PATTERN", "PATTERN SEQ(B, ", "PATTERN A WHERE", "PATTERN A HAVING"))
    return f"RETURN COUNT(*) {clause} {nested} WITHIN 1 s"


def _long(random: Random) -> str:
    """Long but flat: chains, lists, one of many times the same."""
    many = random.choice((63, 64, 65, 500, 1_500))
    link = random.choice((", ", " | ", " & ", "+", "?, ", " + ", " AND ", " OR ", ".", " "))
    part = random.choice(("A", "A a", "A.x", "A.x = 1", "1", "'x'", "NOT A", "[k]", "COUNT(*)"))
    clause = random.choice(("RETURN", "PATTERN", "WHERE", "GROUP-BY", "HAVING", "WITHIN", "QUERY"))
    return f"RETURN COUNT(*) PATTERN A WITHIN 1 s {clause} " + link.join([part] * many)


# ---- from something ------------------------------------------------------------------------


def _at(text: str, random: Random) -> int:
    return random.randint(0, len(text))


def _insert(text: str, random: Random, new: str) -> str:
    at = _at(text, random)
    return text[:at] + new + text[at:]


def _on_tokens(change: Callable[[list[str], int, int], None]) -> Callable[..., str]:
    def mutate(text: str, random: Random, corpus: tuple[str, ...]) -> str:
        tokens = _TOKEN.findall(text)
        if tokens:
            change(tokens, random.randrange(len(tokens)), random.randrange(len(tokens)))
        return "".join(tokens)

    return mutate


def _delete(tokens: list[str], i: int, j: int) -> None:
    del tokens[i]


def _double(tokens: list[str], i: int, j: int) -> None:
    tokens.insert(i, tokens[i])


def _swap(tokens: list[str], i: int, j: int) -> None:
    tokens[i], tokens[j] = tokens[j], tokens[i]


def _drop_range(tokens: list[str], i: int, j: int) -> None:
    del tokens[i : i + j % 8]


def _drop_char(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    at = _at(text, random)
    return text[:at] + text[at + 1 :]


def _swap_chars(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    at = _at(text, random)
    return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]


def _splice(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    other = random.choice(corpus)
    return text[: _at(text, random)] + other[_at(other, random) :]


def _line_ends(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    return text.replace("\n", random.choice(("\r\n", "\r", "\n\n", "", "\u2028", "\x0b", "\t")))


def _word(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    return _insert(text, random, f" {random.choice((*CLAUSES, *WORDS))} ")


def _sign(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    return _insert(text, random, random.choice(WORDS))


def _strange(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    return _insert(text, random, "".join(random.choices(STRANGE, k=random.randint(1, 3))))


def _repeat(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    at, length = _at(text, random), random.choice((1, 1, 3, 10, 60))
    many = random.choice((2, 10, 100, 1_000))
    return text[:at] + text[at : at + length] * many + text[at + length :]


def _rename(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    """Another word of the text in place of one: most often it still parses."""
    tokens = _TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if token.isidentifier() and not token.isupper()]
    if places:
        tokens[random.choice(places)] = tokens[random.choice(places)]
    return "".join(tokens)


def _huge_number(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    huge = random.choice(("9" * 25, "9" * 399, "9" * 5_000, "1e308", "1e999", "1e-999", "0" * 50))
    return re.sub(r"\d+", lambda m: huge if random.random() < 0.5 else m[0], text)


def _other_case(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    return random.choice((text.upper(), text.lower(), text.swapcase(), text.title()))


def _cut_off(text: str, random: Random, corpus: tuple[str, ...]) -> str:
    return text[: _at(text, random)]


_FROM_NOTHING = (_soup, _clauses, _safe_noise, _deep, _long)
_MUTATIONS = (
    *map(_on_tokens, (_delete, _double, _swap, _drop_range)),
    _rename,
    _rename,
    _rename,
    _drop_char,
    _swap_chars,
    _splice,
    _line_ends,
    _word,
    _sign,
    _strange,
    _repeat,
    _huge_number,
    _other_case,
    _cut_off,
)
