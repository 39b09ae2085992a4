"""Rows are numbered in their whole source, whatever parts of it epochs read."""

from runtime.pipeline.dead_letter import dead_rows
from runtime.pipeline.row_numbers import SourcePart, numbered_in_source, rows_after

FIRST, LAST = SourcePart("a.csv", is_last=False), SourcePart("a.csv", is_last=True)
LETTERS = dead_rows("a.csv", [0, 4, None], ["bad"] * 3, ["x"] * 3)


def test_rows_are_numbered_after_those_of_earlier_parts():
    before = {}
    for part, rows, wanted in ((FIRST, 10, [0, 4]), (FIRST, 5, [10, 14]), (LAST, 9, [15, 19])):
        letters = numbered_in_source(LETTERS, part, before)
        assert letters["row"].to_pylist() == [*wanted, None]  # None is the whole file
        before = rows_after(part, rows, before)
    assert before == {}


def test_epochs_without_a_part_change_nothing():
    assert numbered_in_source(LETTERS, None, {"a.csv": 7}) is LETTERS
    assert rows_after(None, 3, {"a.csv": 7}) == {"a.csv": 7}
