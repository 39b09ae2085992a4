"""Segments: a changed bit is found wherever it is, and the other file of the segment serves."""

import json
import stat
from pathlib import Path

import pytest

from runtime.errors import EnvironmentFailure, HamletError
from runtime.io.folder import list_files
from runtime.pipeline.blob_store import CorruptCheckpoint
from spark_ingest.sources.segment_files import DamagedSegment, SegmentFiles, without_checksum
from tools.unfinished import left_by_killed_process

OWNER = "000000003-0123456789ab"
CONTENT = b'{"time": 1, "type": "A"}\n{"time": 2, "type": "B"}\n'


class Kept:
    """The files of a folder with one segment, and what they warned of."""

    def __init__(self, folder: Path) -> None:
        self.warnings: list[str] = []
        self.files = SegmentFiles(folder, ".jsonl", OWNER, self.warnings.append)
        assert self.files.create(1, CONTENT)
        self.copy = folder / "_000000001.sealed"

    @property
    def plain(self) -> Path:
        return self.files.plain()[1]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << place % 8
    path.write_bytes(data)


def test_spark_finds_the_plain_files_only(kept: Kept, tmp_path: Path) -> None:
    assert list_files(tmp_path, None).files == [kept.plain.name]
    assert kept.plain.read_bytes() == CONTENT


def test_a_copy_tells_its_segment_and_its_owner(kept: Kept) -> None:
    header = json.loads(kept.copy.read_bytes()[65:256])
    assert header == {"segment": 1, "owner": OWNER}


def test_both_files_are_private(kept: Kept) -> None:
    for path in (kept.plain, kept.copy):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_every_changed_bit_of_the_plain_file_is_found(kept: Kept) -> None:
    for place in range(len(CONTENT)):
        flip(kept.plain, place)
        assert kept.files.intact(1).read_bytes() == CONTENT
    assert len(kept.warnings) == len(CONTENT) == kept.files.restored
    assert "segment 1 in" in kept.warnings[0]
    assert "was damaged; it is restored from its copy" in kept.warnings[0]


@pytest.mark.parametrize("length", [0, 1, len(CONTENT) - 1])
def test_a_cut_plain_file_is_restored(kept: Kept, length: int) -> None:
    kept.plain.write_bytes(CONTENT[:length])
    assert kept.files.intact(1).read_bytes() == CONTENT


def test_a_missing_plain_file_is_restored(kept: Kept) -> None:
    kept.plain.unlink()
    assert kept.files.numbers() == [1]
    assert kept.files.intact(1).read_bytes() == CONTENT
    assert "was missing" in kept.warnings[0]


def test_every_changed_bit_of_the_copy_is_found(kept: Kept) -> None:
    whole = kept.copy.read_bytes()
    for place in range(len(whole)):
        flip(kept.copy, place)
        kept.files.repair()
        assert kept.copy.read_bytes() == whole, place
    assert len(kept.warnings) == len(whole)
    assert kept.plain.read_bytes() == CONTENT


@pytest.mark.parametrize("length", [0, 64, 65, 256, 257])
def test_a_cut_or_missing_copy_is_restored(kept: Kept, length: int) -> None:
    whole = kept.copy.read_bytes()
    kept.copy.write_bytes(whole[:length])
    kept.files.repair()
    assert kept.copy.read_bytes() == whole
    kept.copy.unlink()
    kept.files.repair()
    assert kept.copy.read_bytes() == whole


def test_the_copy_of_another_segment_does_not_serve(kept: Kept) -> None:
    assert kept.files.create(2, b"other")
    kept.copy.write_bytes((kept.copy.parent / "_000000002.sealed").read_bytes())
    flip(kept.plain, 0)
    with pytest.raises(DamagedSegment):
        kept.files.intact(1)


def test_both_damaged_is_a_failure_that_says_what_to_do(kept: Kept) -> None:
    flip(kept.plain, 3)
    flip(kept.copy, 300)
    before = kept.plain.read_bytes(), kept.copy.read_bytes()
    kept.files.repair()
    with pytest.raises(EnvironmentFailure, match=r"segment 1 in .* and so is its copy") as raised:
        kept.files.intact(1)
    assert "put one of the two files back" in raised.value.render()
    assert (kept.plain.read_bytes(), kept.copy.read_bytes()) == before


def test_intact_files_stay_as_they_are(kept: Kept) -> None:
    before = [(each.stat().st_ino, each.stat().st_mtime_ns) for each in (kept.plain, kept.copy)]
    kept.files.repair()
    assert kept.files.intact(1) == kept.plain
    after = [(each.stat().st_ino, each.stat().st_mtime_ns) for each in (kept.plain, kept.copy)]
    assert after == before
    assert kept.warnings == []


def test_a_segment_never_replaces_another(kept: Kept) -> None:
    assert not kept.files.create(1, b"of a run that was paused")
    kept.copy.unlink()  # nor if its copy was lost
    assert not kept.files.create(1, b"of a run that was paused")
    assert kept.files.intact(1).read_bytes() == CONTENT


def test_a_run_that_died_between_the_two_files(kept: Kept) -> None:
    kept.plain.unlink()
    assert not kept.files.create(1, b"of the next run")
    kept.files.repair()
    assert kept.plain.read_bytes() == CONTENT


def test_deleted(kept: Kept, tmp_path: Path) -> None:
    left_by_killed_process(kept.plain)
    kept.files.tidy()
    kept.files.delete(1)
    assert list(tmp_path.iterdir()) == []


def test_segments_without_checksums_are_refused(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "000000002.jsonl").write_bytes(CONTENT)
    with pytest.raises(HamletError, match=r"000000002\.jsonl was written by another version"):
        kept.files.tidy()


def test_messages_have_the_name_without_the_checksum(kept: Kept, tmp_path: Path) -> None:
    assert without_checksum(str(kept.plain)) == str(tmp_path / "000000001.jsonl")
    assert without_checksum("a/b.jsonl") == "a/b.jsonl"


# ---- links ---------------------------------------------------------------------------------


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder elsewhere with a file that is named like a segment."""
    found = tmp_path / "victim"
    found.mkdir()
    (found / f"000000001-{'a' * 64}.jsonl").write_text("precious")
    return found


def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "segments").symlink_to(victim)
    with pytest.raises(CorruptCheckpoint, match="segments is a symbolic link"):
        SegmentFiles(tmp_path / "segments", ".jsonl", OWNER, pytest.fail)
    assert [path.read_text() for path in victim.iterdir()] == ["precious"]


def test_a_link_that_takes_the_place_of_the_folder_later(tmp_path: Path, victim: Path) -> None:
    kept = Kept(tmp_path / "segments")
    (tmp_path / "segments").rename(tmp_path / "before")
    (tmp_path / "segments").symlink_to(victim)
    files = kept.files
    for use in (
        *(files.numbers, files.plain, files.repair, files.tidy),
        *(lambda: files.create(2, CONTENT), lambda: files.replace(1, CONTENT)),
        *(lambda: files.intact(1), lambda: files.delete(1)),
    ):
        with pytest.raises(CorruptCheckpoint, match="symbolic link"):
            use()
    assert [path.read_text() for path in victim.iterdir()] == ["precious"]


def test_a_link_in_the_folder_is_refused(tmp_path: Path, victim: Path) -> None:
    kept = Kept(tmp_path / "segments")
    (precious,) = victim.iterdir()
    for name in (kept.plain.name, kept.copy.name):
        (kept.files.folder / name).unlink()
        (kept.files.folder / name).symlink_to(precious)
        for use in (kept.files.numbers, kept.files.repair, lambda: kept.files.intact(1)):
            with pytest.raises(CorruptCheckpoint, match="is a symbolic link"):
                use()
        (kept.files.folder / name).unlink()
        kept.files.create(1, CONTENT)
    assert precious.read_text() == "precious"
