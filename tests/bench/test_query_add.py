"""Whether adding queries holds the stream up."""

import pytest

from benchmarks.query_add import AFTER, WARM_EPOCHS, _Additions, _Epochs, judge
from runtime.errors import HamletError
from runtime.language.parser import parse

QUERY = parse("QUERY one RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 5 seconds")


def added(query: str, ratio: float, gap_ratio: float = 1.0) -> dict[str, object]:
    return {
        "query": query,
        "ratio": ratio,
        "longest_stage": "compute 0.31",
        "gap_ratio": gap_ratio,
        "longest_gap": 0.44,
    }


def test_no_epoch_takes_more_than_twice_as_long():
    judge({"added": [added("one", 1.0), added("two", 2.0, 2.0)]})


def test_each_query_that_holds_the_stream_up_is_named():
    with pytest.raises(HamletError) as error:
        judge({"added": [added("one", 2.1), added("two", 2.0), added("three", 66.0, 2.5)]})
    assert error.value.message.splitlines() == [
        "an added query may slow epochs down to 2 times at most:",
        "  one: an epoch of 2.1 times the median before (compute 0.31 s)",
        "  three: an epoch of 66.0 times the median before (compute 0.31 s)",
        "  three: 2.5 times the median before between two commits (0.44 s)",
    ]


@pytest.mark.parametrize("late", ["the epoch with the query", "the last one after it", "none"])
def test_a_wait_between_commits_counts_though_no_stage_is_slower(late):
    epochs = _Epochs()
    additions = _Additions(QUERY, epochs, lambda what: None)

    def commit(gap: float) -> None:
        epochs.moments.append((epochs.moments or [0.0])[-1] + gap)
        epochs.stages.append({"read": 0.4, "compute": 0.3})
        epochs.epochs += 1

    for _ in range(2 * WARM_EPOCHS):
        commit(0.5)
    change = additions.next(None)
    additions.committed(change, 2 * WARM_EPOCHS)
    commit(3.0 if late == "the epoch with the query" else 0.5)
    for _ in range(AFTER - 1):
        commit(0.5)
    commit(3.0 if late == "the last one after it" else 0.5)
    assert additions.is_done()
    commit(9.0)  # nobody waits for this one any more
    result = additions.figures()
    [figures] = result["added"]
    assert figures["ratio"] == 1.0
    assert figures["gap_ratio"] == (1.0 if late == "none" else 6.0)
    if late == "none":
        judge(result)
    else:
        with pytest.raises(HamletError, match=r"one: 6\.0 times the median before between two"):
            judge(result)
