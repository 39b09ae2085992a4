"""Whether adding queries holds the stream up."""

import pytest

from benchmarks.query_add import judge
from runtime.errors import HamletError


def added(query: str, ratio: float) -> dict[str, object]:
    return {"query": query, "ratio": ratio, "longest_stage": "compute 0.31"}


def test_no_epoch_takes_more_than_twice_as_long():
    judge({"added": [added("one", 1.0), added("two", 2.0)]})


def test_each_query_that_holds_the_stream_up_is_named():
    with pytest.raises(HamletError) as error:
        judge({"added": [added("one", 2.1), added("two", 2.0), added("three", 66.0)]})
    assert error.value.message.splitlines() == [
        "an added query may slow an epoch down to 2 times at most:",
        "  one: 2.1 times the median before (compute 0.31 s)",
        "  three: 66.0 times the median before (compute 0.31 s)",
    ]
