"""What is known of a file before Spark reads it."""

from runtime.io.file_probe import MOST_WHOLE, FileKind, UnreadableFile, kind_of
from runtime.io.reader import ReadRequest

CSV = b"time,type\n1,A\n"


def test_a_file_in_one_piece_must_fit_into_memory(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(CSV)
    whole = ReadRequest(multiline=True)
    found = kind_of(path, whole)
    assert isinstance(found, FileKind)
    assert found.header == ("time", "type")
    with path.open("ab") as file:
        file.truncate(MOST_WHOLE + 1)
    found = kind_of(path, whole)
    assert isinstance(found, UnreadableFile)
    assert found.reason == "?multiline=true reads it in one piece, and it is over 128 MB"
