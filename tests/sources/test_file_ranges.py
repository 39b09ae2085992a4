"""The parts of a large file cover it once, whatever the limits of the epochs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InputError
from runtime.io.row_groups import RowGroup
from runtime.pipeline.blob_store import CorruptCheckpoint
from spark_ingest.sources.file_ranges import (
    FilePart,
    InputFile,
    check_unchanged,
    end_of_file,
    next_part,
    part_between,
    piece_size,
    position_after,
)
from spark_ingest.sources.source import SourceRange

FILE = InputFile("folder/a.csv", 1_000, 7)


def groups_at(middles: list[int]) -> list[RowGroup]:
    return [RowGroup(middle, 10, 3, None) for middle in sorted(middles)]


def parts_of(
    file: InputFile, piece: int, limits: list[int], groups: list[RowGroup] | None
) -> list[FilePart]:
    found = [next_part(file, 0, piece, limits[0], groups)]
    while not found[-1].is_last:
        limit = limits[len(found) % len(limits)]
        found.append(next_part(file, found[-1].until, piece, limit, groups))
    return found


@given(
    st.integers(1, 5_000),
    st.integers(1, 700),
    st.lists(st.integers(1, 2_000), min_size=1),
    st.none() | st.lists(st.integers(0, 4_999), min_size=1),
)
def test_parts_cover_a_file_once(
    size: int, piece: int, limits: list[int], middles: list[int] | None
) -> None:
    groups = None if middles is None else groups_at([middle % size for middle in middles])
    parts = parts_of(InputFile("a", size, 0), piece, limits, groups)
    pieces = [number for part in parts for number in part.pieces]
    assert pieces == list(range(-(-size // piece)))
    assert sum(part.bytes for part in parts) == size
    for part in parts if groups is not None else ():
        assert any(part.at <= group.middle < part.until for group in groups or ())


def test_a_part_is_as_large_as_its_limit_lets_whole_pieces_be() -> None:
    assert next_part(FILE, 0, 100, 350, None).until == 300
    assert next_part(FILE, 300, 100, 10, None).until == 400  # at least one
    assert next_part(FILE, 900, 100, 350, None).is_last


def test_a_row_group_beyond_the_limit_is_read_whole() -> None:
    groups = groups_at([450, 700])
    first = next_part(FILE, 0, 100, 200, groups)
    assert (first.at, first.until) == (0, 500)
    # Nothing lies behind the last one.
    assert next_part(FILE, 500, 100, 300, groups).until == FILE.size


def test_pieces_keep_all_cores_busy_but_are_never_tiny() -> None:
    assert piece_size(32 << 20, 2) == 8 << 20
    assert piece_size(32 << 20, 64) == 4 << 20
    assert piece_size(1 << 40, 1) == 128 << 20


def test_positions_tell_how_far_a_file_was_read() -> None:
    start = {"files": ["0.csv"]}
    middle = position_after(["0.csv"], "a.csv", FilePart(FILE, 0, 300, 100))
    assert middle == {
        "files": ["0.csv"],
        "part": {"file": "a.csv", "size": 1_000, "changed": 7, "piece": 100, "at": 300},
    }
    later = position_after(["0.csv"], "a.csv", FilePart(FILE, 300, 600, 100))
    end = position_after(["0.csv"], "a.csv", FilePart(FILE, 600, 1_000, 100))
    assert end == {"files": ["0.csv", "a.csv"]}
    part = middle["part"]
    assert part_between(start, middle) == (part, 0, 300)
    assert part_between(middle, later) == (later["part"], 300, 600)
    assert part_between(middle, end) == (part, 300, None)
    assert part_between(start, end) is None
    assert end_of_file(SourceRange(start, middle)) == end
    assert end_of_file(SourceRange(middle, end)) == end


def test_a_changed_file_is_refused() -> None:
    part = position_after([], "a.csv", FilePart(FILE, 0, 300, 100))["part"]
    check_unchanged(part, FILE)
    for changed in (InputFile(FILE.path, 1_001, 7), InputFile(FILE.path, 1_000, 8)):
        with pytest.raises(InputError, match="has changed since a part of it was read"):
            check_unchanged(part, changed)


@pytest.mark.parametrize(
    "part",
    [
        7,
        {},
        {"file": "a", "size": 9, "changed": 1, "piece": 0, "at": 3},
        {"file": "a", "size": 9, "changed": 1, "piece": 3, "at": -3},
        {"file": "a", "size": 9, "changed": 1, "piece": 3, "at": True},
        {"file": ["a"], "size": 9, "changed": 1, "piece": 3, "at": 3},
    ],
)
def test_a_position_that_is_not_of_hamlet(part):
    with pytest.raises(CorruptCheckpoint, match="within a file"):
        part_between({"files": []}, {"files": [], "part": part})
