"""The watermark: the largest time less the lateness, of the slowest partition that is awake."""

from runtime.pipeline.watermark import Watermark


class Time:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_lies_behind_the_largest_time() -> None:
    mark = Watermark(10)
    assert mark.observe({}) is None
    assert mark.observe({"a": 5}) == -5
    assert mark.observe({"a": 100}) == 90


def test_it_never_goes_back() -> None:
    mark = Watermark(10)
    mark.observe({"a": 100})
    assert mark.observe({"a": 50}) == 90
    assert mark.newest == 100
    assert mark.observe({"b": 60}) == 90  # a partition that is new, and behind


def test_the_slowest_partition_holds_it_back() -> None:
    # a  ----10---------20----------
    # b  ----5----------------7-----
    mark = Watermark(0)
    assert mark.observe({"a": 10, "b": 5}) == 5
    assert mark.observe({"a": 20}) == 5
    assert mark.observe({"b": 7}) == 7
    assert mark.newest == 20


def test_one_that_is_idle_does_not() -> None:
    # a  10   20   .   30
    # b   5    .   .    .   6
    time = Time()
    mark = Watermark(0, idle=30, now=time)
    mark.observe({"a": 10, "b": 5})
    time.now = 29
    assert mark.observe({"a": 20}) == 5
    time.now = 30
    assert mark.observe({}) == 20
    time.now = 40
    assert mark.observe({"a": 30}) == 30
    assert mark.observe({"b": 6}) == 30


def test_where_all_are_idle_it_stands() -> None:
    time = Time()
    mark = Watermark(0, idle=30, now=time)
    mark.observe({"a": 10, "b": 5})
    time.now = 100
    assert mark.observe({}) == 5


def test_it_goes_on_from_a_checkpoint() -> None:
    time = Time()
    mark = Watermark(10, clocks={"a": 100, "b": 50}, value=60, idle=30, now=time)
    assert (mark.value, mark.newest) == (60, 100)
    assert mark.observe({"b": 80}) == 70
    time.now = 31
    assert mark.observe({"a": 120}) == 110
