"""Wrong queries and what is said about them, as pairs of text in `wrong/*.txt`.

`HAMLET_UPDATE=1 pytest tests/language/test_wrong_queries.py` rewrites the messages. In a query
marked [escaped], `\\x..`, `\\u....` and `\\r` stand for those characters; one marked [yaml] or
[arrow] is right by itself and wrong for that schema.
"""

import pickle
import re
from pathlib import Path

import pyarrow as pa
import pytest

from language.golden import Goldens, Pair
from runtime.errors import WorkloadError
from runtime.language.parser import parse
from runtime.language.schema_check import check_schema
from runtime.types.schema import Schema

FOLDER = Path(__file__).parent / "wrong"
GOLDENS = Goldens(*FOLDER.glob("*.txt"))
PAIRS = GOLDENS.pairs
SCHEMAS = {
    "yaml": Schema.from_yaml(FOLDER / "ride.yaml"),
    "arrow": Schema.from_arrow(
        pa.schema(
            {
                "time": pa.timestamp("us"),
                "type": pa.string(),
                "driver": pa.dictionary(pa.int32(), pa.string()),
                "speed": pa.float32(),
                "pool": pa.bool_(),
                "nothing": pa.null(),
                "stops": pa.list_(pa.string()),
            }
        )
    ),
}


def text_of(pair: Pair) -> str:
    if "escaped" not in pair.marks:
        return pair.given
    code = r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(r))"
    return re.sub(code, lambda m: "\r" if m[3] else chr(int(m[1] or m[2], 16)), pair.given)


def complaint(pair: Pair) -> WorkloadError | None:
    try:
        workload = parse(text_of(pair), "ride.sase")
        for mark in pair.marks & set(SCHEMAS):
            check_schema(workload, SCHEMAS[mark])
    except WorkloadError as error:
        return error
    return None


@pytest.fixture(scope="module", autouse=True)
def _rewritten():
    yield
    GOLDENS.write()


@pytest.mark.parametrize("key", PAIRS)
def test_what_is_said(key):
    error = complaint(PAIRS[key])
    assert error is not None, "this query is right"
    GOLDENS.check(PAIRS[key], error.render())


def test_there_are_many():
    assert len(PAIRS) >= 75
    assert len({pair.wanted for pair in PAIRS.values()}) == len(PAIRS)


@pytest.mark.parametrize("key", PAIRS)
def test_the_caret_stands_under_what_is_named(key):
    for error in complaint(PAIRS[key]).errors:
        place = error.place
        marked = place.source[place.column - 1 : place.column - 1 + place.length]
        named = re.search(r"(?:found|unknown \w+) `(.+)`$", error.message)
        assert named is None or named[1].lower() == marked.lower()


def test_errors_travel_between_processes():
    with pytest.raises(WorkloadError) as caught:
        parse("RETURN COUNT(x) PATTERN A* WITHIN 1 minute", "ride.sase")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.render() == caught.value.render()
    assert copy.errors[0].place == caught.value.errors[0].place
    assert copy.errors[0].hint == caught.value.errors[0].hint


def test_queries_that_fit_the_schemas():
    query = """
        RETURN COUNT(*), MAX(T.nothing)
        PATTERN Travel T+
        WHERE [driver] AND T.speed < 5 AND T.pool = TRUE
        WITHIN 1 minute"""
    check_schema(parse(query), SCHEMAS["arrow"])
    query = """
        RETURN COUNT(*), SUM(D.fare)
        PATTERN SEQ(Request R, Travel T+, Dropoff D)
        WHERE [driver] AND T.speed < 5 AND T.note = 'x' AND R.pool = TRUE
        WITHIN 1 minute"""
    check_schema(parse(query), SCHEMAS["yaml"])
