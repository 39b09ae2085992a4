"""Random lines of JSON: valid ones, ones with a single oddity, and broken ones."""

import json
from collections.abc import Iterator, Mapping
from random import Random

WHOLE = "0 1 -1 42 -0 7 2147483647 9007199254740993 9223372036854775807 -9223372036854775808"
FRACTIONS = "0.1 -7.5 1e2 1E+2 1e-7 100e-2 7.0 1e22 1e23 1e300 -0.0 2.5e-324 2e-3 1.0E23 5e-324"
EDGES = (
    "1e999 -1e999 9007199254740993.0 9223372036854775808 -9223372036854775809 "
    "9223372036854775807.0 9223372036854774784.0 12345678901234567168.0 12345678901234567890 "
    "18446744073709551615 18446744073709551616 1.8446744073709550e19 1.8446744073709552e19 "
    "-9.3e18 2147483648 123456789012345678901234567890 1.7976931348623157e308 0.30000000000000004"
)
LONG = ["9" * 39, "1" + "0" * 400, "-" + "9" * 400, "8" * 4300, "8" * 4301, "0." + "3" * 1200]
NOT_NUMBERS = "NaN Infinity -Infinity INF +INF -INF +Infinity -NaN nan Inf +1 01 1. .5 -"
NOT_JSON = ["None", "True", "'x'", "x", "1a", "nul", "0x1F", "/**/1", "[1,]", '{"a":1,}']
NOT_JSON += ['"\t"', r'"\x"', r'"\u12"']
NESTED = "[] {} [1] [NaN] {v:1} {v:1,v:2} {k:x} [{k:x},{type:1}]".replace("x", '"x"').split(" ")
STRINGS = ["", "a", "B", "5", "-1.5", "true", "null", "NaN", "Infinity", "-INF", "{", "[1]", "~"]
STRINGS += ["~~a", "é", "😀", "v", "k", "type", '"v":1', '"k":"', "\\", "\\\\", 'a\\"b', "a\nb"]
STRINGS += ["\u0000", "\u001f\u000b", "\u007f", "\u2028", "\ufeff", " a ", "/", "\u00a0"]
TIMES = "2020-01-01T10:00:00.5+02:00 2020-01-01T00:00:00 9999-12-31 1969-12-31T23:59:59Z 2020-01-01"
ODD_TIMES = ["2020-02-30", "2020-01-01 10", "2020-01-01T24:00", "10000-01-01", "2020"]
ESCAPED = r"ud83d\ude00 ud83d ude00 ud83d\ud83d\ude00 \ud83d / u0041 uD83D\uDE00 \\ud83d"
ESCAPED += r" u00e9 b\f\n\r\t\\\" u0000 uDBFF\uDFFF udc00\ud800"


def _strings(values: list[str]) -> list[str]:
    return [json.dumps(each, ensure_ascii=ascii) for each in values for ascii in (True, False)]


_QUOTED = {f"{{{key}:": f'{{"{key}":' for key in ("v", "k", "type")} | {",v:": ',"v":'}
_NESTED = list(NESTED)
for _plain, _quoted in _QUOTED.items():
    _NESTED = [each.replace(_plain, _quoted) for each in _NESTED]

#: Values by the kind of a column.
GOOD = {
    "whole": WHOLE.split(),
    "number": [*WHOLE.split(), *FRACTIONS.split()],
    "text": _strings(STRINGS),
    "boolean": ["true", "false"],
    "time": _strings(TIMES.split()),
    "day": ['"2020-01-01"', '"0001-01-01"', '"9999-12-31"'],
}
ANY = [
    *(WHOLE + " " + FRACTIONS + " " + EDGES).split(),
    *LONG,
    *(NOT_NUMBERS.split() + NOT_JSON),
    *_NESTED,
    *_strings(STRINGS + TIMES.split() + ODD_TIMES),
    *(f'"\\{each}"' for each in ESCAPED.split()),
    *("true", "false", "null"),
]


def random_lines(seed: int, count: int, kinds: Mapping[str, str]) -> Iterator[bytes]:
    """Lines with columns of these kinds, and one more."""
    random = Random(seed)
    for _ in range(count):
        line = _line(random, {**kinds, "other": "text"})
        yield line.replace(b"\n", b" ")


def _line(random: Random, kinds: Mapping[str, str]) -> bytes:
    chance = random.random()
    fields = _fields(random, kinds)
    if 0.1 < chance < 0.6:
        _make_odd(random, fields, list(kinds))
    text = _written(random, fields)
    if 0.6 < chance < 0.7:
        text = _with_neighbour(random, text, _written(random, _fields(random, kinds)))
    elif 0.7 < chance < 0.9:
        text = _broken(random, text)
    data = text.encode("utf-8", "surrogatepass")
    return _with_odd_bytes(random, data) if chance > 0.95 else data


def _fields(random: Random, kinds: Mapping[str, str]) -> list[tuple[str, str]]:
    """Keys and values as they are written."""
    names = [name for name in kinds if random.random() < 0.8]
    random.shuffle(names)
    return [(json.dumps(name), random.choice([*GOOD[kinds[name]], "null"])) for name in names]


def _make_odd(random: Random, fields: list[tuple[str, str]], names: list[str]) -> None:
    name = random.choice(names)
    key, value = json.dumps(name, ensure_ascii=False), random.choice(ANY)
    chance = random.random()
    if chance < 0.3 and fields:  # other than its kind
        place = random.randrange(len(fields))
        fields[place] = (fields[place][0], value)
    elif chance < 0.5 and fields:  # a second time
        fields.append((random.choice(fields)[0], random.choice(["1", "null", '"a"', value])))
    else:  # in other letters, or inside another value
        escaped = '"' + "".join(f"\\u{ord(each):04x}" for each in name) + '"'
        inside = f"{{{key}:{value},{key}:1}}"
        fields.append(random.choice([(escaped, value), ('"x"', inside), ('"x"', key)]))


def _written(random: Random, fields: list[tuple[str, str]]) -> str:
    space = random.choice(["", "", "", " ", "\t", " \r "])
    around = random.choice(["", "", "", " ", "\r"])
    listed = f",{space}".join(f"{key}{random.choice(['', space])}:{space}{v}" for key, v in fields)
    return f"{around}{{{listed}{space}}}{around}"


def _with_neighbour(random: Random, text: str, other: str) -> str:
    other = random.choice([other, random.choice(ANY), "{}", "", "]", "}", ",", "x"])
    shape = random.choice(["{0} {1}", "{0}{1}", "{1}{0}", "{0},{1}", "[{0},{1}]", "{1}"])
    return shape.format(text, other)


def _broken(random: Random, text: str) -> str:
    at = random.randrange(len(text))
    put = random.choice([*"{}[],:\"\\ 0e-'", "\x00", "\x0b\x1e", "\x0c", "\\u001F", ""])
    return text[:at] + put + text[at + random.randrange(2) :]


def _with_odd_bytes(random: Random, data: bytes) -> bytes:
    odd = b"\xff \x80 \xe2\x82 \xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80 \xe2\x82\xac\xe9".split(b" ")
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(odd) + data[at:]
