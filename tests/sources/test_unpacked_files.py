"""Compressed files are measured by what is in them, and unpacked if that is too much."""

import gzip
from pathlib import Path

import pytest

from runtime.errors import InputError
from spark_ingest.sources.file_ranges import InputFile
from spark_ingest.sources.unpacked_files import UnpackedFiles


def packed(path: Path, *members: bytes) -> InputFile:
    path.write_bytes(b"".join(map(gzip.compress, members)))
    return InputFile.of(path)


def test_what_fits_stays_packed(tmp_path: Path) -> None:
    file = packed(tmp_path / "a.gz", b"x" * 1_000)
    found = UnpackedFiles(tmp_path).measured(file, 1_000)
    assert (found.size, found.copy, found.stored) == (1_000, None, file.path)
    assert list(tmp_path.iterdir()) == [tmp_path / "a.gz"]


def test_every_member_counts(tmp_path: Path) -> None:
    """The end of the file has only the size of the last one."""
    files = UnpackedFiles(tmp_path)
    file = packed(tmp_path / "a.gz", b"x" * 1_000, b"y")
    found = files.measured(file, 1_000)
    assert found.size == 1_001
    assert Path(found.stored).read_bytes() == b"x" * 1_000 + b"y"
    assert (found.path, found.changed) == (file.path, file.changed)
    files.close()
    assert list(tmp_path.iterdir()) == [tmp_path / "a.gz"]


def test_a_limit_may_change(tmp_path: Path) -> None:
    files = UnpackedFiles(tmp_path)
    file = packed(tmp_path / "a.gz", b"x" * 3_000_000)
    assert files.measured(file, 4_000_000).copy is None
    assert files.measured(file, 2_000_000).copy is not None
    assert files.measured(file, 4_000_000).copy is not None
    assert len(list(tmp_path.glob("hamlet-unpacked-*/[0-9]*"))) == 1
    files.drop([file.path])
    assert files.measured(file, 4_000_000) == InputFile(file.path, 3_000_000, file.changed)
    files.close()


def test_a_file_that_has_changed_is_unpacked_again(tmp_path: Path) -> None:
    files = UnpackedFiles(tmp_path)
    contents = []
    for content in (b"first", b"the second"):
        found = files.measured(packed(tmp_path / "a.gz", content), 1)
        contents.append(Path(found.stored).read_bytes())
    assert contents == [b"first", b"the second"]
    files.close()


def test_damage_leaves_no_copy(tmp_path: Path) -> None:
    files = UnpackedFiles(tmp_path)
    whole = gzip.compress(b"x" * 5_000_000)
    (tmp_path / "a.gz").write_bytes(whole[:-4])
    for most in (1_000, 9_000_000):
        with pytest.raises(InputError, match="ended before the end-of-stream marker"):
            files.measured(InputFile.of(tmp_path / "a.gz"), most)
    assert list(tmp_path.glob("hamlet-*/[0-9]*")) == []
    files.close()
