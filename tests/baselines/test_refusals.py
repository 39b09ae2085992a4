"""What a baseline cannot express it refuses, with the reason; it never answers something else."""

import pyarrow as pa
import pytest

from benchmarks.baselines.registry import system
from benchmarks.baselines.system import Unsupported
from runtime.errors import HamletError
from runtime.language.parser import parse

SYSTEMS = ("greta", "event-grained", "cogra", "sase")
TABLE = pa.table({"time": [1, 2], "type": ["A", "B"], "x": [1.0, 2.0], "s": ["a", "b"]})
REASONS = {
    "NOT": "RETURN COUNT(*) PATTERN SEQ(A, NOT C, B) WITHIN 9 us",
    "P & Q": "RETURN COUNT(*) PATTERN A & B WITHIN 9 us",
    "LENGTH": "RETURN COUNT(*) PATTERN A+ WHERE LENGTH >= 2 WITHIN 9 us",
    "HAVING": "RETURN COUNT(*) PATTERN A+ HAVING COUNT(*) > 1 WITHIN 9 us",
    "windows of so many events": "RETURN COUNT(*) PATTERN A+ WITHIN 9 events",
    "a type that stands in the pattern twice": "RETURN COUNT(*) PATTERN SEQ(A, B, A) WITHIN 9 us",
    "comparisons of one attribute with one attribute": (
        "RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x + 1 WITHIN 9 us"
    ),
    "numbers, not text": "RETURN COUNT(*) PATTERN A+ WHERE A.s = NEXT(A).s WITHIN 9 us",
}


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_says_why(name: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        system(name).prepare(parse(REASONS[reason]), TABLE)


@pytest.mark.parametrize("semantics", ["skip-till-next-match", "contiguous"])
def test_greta_knows_one_semantics(semantics: str) -> None:
    text = f"RETURN COUNT(*) PATTERN A+ SEMANTICS {semantics} WITHIN 9 us"
    with pytest.raises(Unsupported, match=f"skip-till-any-match, not {semantics}"):
        system("greta").prepare(parse(text), TABLE)
    for name in SYSTEMS[1:]:
        (row,) = system(name).prepare(parse(text), TABLE).run()["q1"].to_pylist()
        assert row["COUNT(*)"] == 1.0, name


def test_a_name_that_is_none() -> None:
    with pytest.raises(HamletError, match="there is no system `cobra`") as caught:
        system("cobra")
    assert "cogra" in str(caught.value.hint)
