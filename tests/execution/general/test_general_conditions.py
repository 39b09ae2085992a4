"""Adjacent conditions, run by the kernel's interpreter, against `language/evaluate.py`."""

from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from execution.general.alone import results
from runtime.pipeline.engine import aggregate

WHOLE = [None, 0, 1, -1, 7, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
HIGH = [None, 0, 1, 7, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 2048, 2**64 - 1]
DOUBLES = [None, 0.0, -0.0, 1.0, 0.5, -7.25, 2.0**53, -(2.0**53) - 2, 2.0**63, -(2.0**63), 1.8e19]
DOUBLES += [2.0**64, 1e308, -1e308, float("inf"), float("-inf"), 5e-324]
TEXTS = [None, "", "a", "b", "ab", "é", "z\U0001f600"]
BOOLS = [None, True, False]
COLUMNS = {
    "i": (WHOLE, pa.int64()),
    "u": (HIGH, pa.uint64()),
    "d": (DOUBLES, pa.float64()),
    "t": (TEXTS, pa.string()),
    "f": (BOOLS, pa.bool_()),
}

SYMBOLS = ("=", "!=", "<", "<=", ">", ">=")
COMPARED = [
    f"A.{one} {symbol} NEXT(B).{other}"
    for symbol in SYMBOLS
    for one, other in [*product("iud", "iud"), ("t", "t")]
] + ["A.f = NEXT(B).f", "NEXT(B).f != A.f", "NEXT(B).i < A.d"]
MIXED = [
    "A.d + NEXT(B).d > 1",
    "A.i - NEXT(B).i <= 0.5",
    "A.i * NEXT(B).d != 7",
    "A.i / NEXT(B).i >= 1",
    "A.d / NEXT(B).d < 2 OR A.d IS NULL",
    "A.d % NEXT(B).d = 0",
    "A.i % NEXT(B).i < 0",
    "A.u + NEXT(B).u > 18446744073709551615",
    "-A.d < NEXT(B).d",
    "-A.i = NEXT(B).i",
    "A.i BETWEEN NEXT(B).i AND NEXT(B).d",
    "NOT (A.i BETWEEN NEXT(B).d AND 3)",
    "A.i IN (0, 7, 9007199254740993) OR NEXT(B).i IN (1, 2.5)",
    "NOT (A.d IN (0, 0.5) AND NEXT(B).d IN (1, -7.25))",
    "A.t IN ('a', '') OR NEXT(B).t IN ('ab', 'nobody')",
    "NOT (A.t < 'b' AND NEXT(B).t >= 'a')",
    "NOT (A.t = NEXT(B).t) OR A.f = TRUE",
    "A.t IS NULL OR NEXT(B).t IS NOT NULL",
    "A.f = TRUE OR NEXT(B).f = FALSE",
    "NOT (A.i < 1e30 AND NEXT(B).u > -1)",
]


def stream(*names: str) -> pa.Table:
    """Every pair of values in a partition of its own."""
    columns: dict[str, list[Any]] = {name: [] for name in ("time", "type", "g", *names)}
    values = [list(zip(*padded(names), strict=True))] * 2
    for g, pair in enumerate(product(*values)):
        for time, (kind, row) in enumerate(zip("AB", pair, strict=True)):
            for name, value in zip(columns, (time, kind, g, *row), strict=True):
                columns[name].append(value)
    types = {name: COLUMNS[name][1] for name in names}
    return pa.table({k: pa.array(v, types.get(k)) for k, v in columns.items()})


def padded(names: tuple[str, ...]) -> list[list[Any]]:
    """Columns of one length, out of step with each other."""
    longest = max(len(COLUMNS[name][0]) for name in names)
    return [
        [COLUMNS[name][0][(row + place) % len(COLUMNS[name][0])] for row in range(longest)]
        for place, name in enumerate(names)
    ]


@pytest.mark.parametrize("condition", [*COMPARED, *MIXED])
def test_as_the_plain_engine(condition: str) -> None:
    names = tuple(name for name in COLUMNS if f".{name} " in f"{condition} ".replace(")", " "))
    table = stream(*names)
    text = f"RETURN g, COUNT(*) PATTERN SEQ(A, B) WHERE {condition} GROUP-BY g WITHIN 100 us"
    (wanted,) = aggregate(text, table, time_unit="us").values()
    (found,) = results(text, table, time_unit="us").values()
    assert found["g"].to_pylist() == wanted["g"].to_pylist()
