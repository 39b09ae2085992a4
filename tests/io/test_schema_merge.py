"""Files that come later, held against the columns that are known."""

import pyarrow as pa
import pytest

from runtime.io.schema_merge import type_conflict

FITS = [
    (pa.float64(), pa.int64()),
    (pa.float64(), pa.float32()),
    (pa.int64(), pa.int16()),
    (pa.string(), pa.large_string()),
    (pa.string(), pa.dictionary(pa.int32(), pa.string())),
    (pa.timestamp("us"), pa.timestamp("ms")),
    (pa.int64(), pa.null()),
]
MISFITS = [
    (pa.float64(), pa.string()),
    (pa.int64(), pa.float64()),
    (pa.int16(), pa.int64()),
    (pa.string(), pa.int64()),
    (pa.timestamp("ms"), pa.timestamp("us")),
    (pa.null(), pa.int64()),
]


def found(known: pa.DataType, later: pa.DataType) -> str | None:
    return type_conflict(pa.schema([("x", known)]), pa.schema([("x", later)]), ["x"])


@pytest.mark.parametrize(("known", "later"), FITS)
def test_fits(known: pa.DataType, later: pa.DataType) -> None:
    assert found(known, later) is None


@pytest.mark.parametrize(("known", "later"), MISFITS)
def test_misfits(known: pa.DataType, later: pa.DataType) -> None:
    assert found(known, later) == f"column `x` is {later}, but {known} in the files before it"


def test_columns_that_nobody_uses_or_that_are_missing_do_not_matter() -> None:
    known = pa.schema([("x", pa.int64()), ("y", pa.int64())])
    assert type_conflict(known, pa.schema([("x", pa.string())]), ["y"]) is None
    assert type_conflict(known, pa.schema([("z", pa.string())]), ["x", "y", "z"]) is None
