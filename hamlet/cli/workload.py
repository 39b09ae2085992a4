"""Reads and writes query files."""

from __future__ import annotations

from pathlib import Path

from runtime.errors import HamletError, InputError
from runtime.language.parser import parse
from runtime.language.query import Workload
from runtime.language.schema_check import check_schema
from runtime.types.schema import Schema


def read_workload(path: Path) -> Workload:
    """The checked queries of a file."""
    return parse(read_text(path), str(path))


def read_schema(path: Path, workload: Workload) -> Schema:
    """The schema of a file, if the workload fits it."""
    schema = Schema.from_file(path)
    check_schema(workload, schema)
    return schema


def read_text(path: Path) -> str:
    try:
        # `newline` keeps line ends, so that columns are right; utf-8-sig drops a byte order mark.
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"{path} is not UTF-8 text: byte {error.start + 1}, in line {line}"
        raise InputError(message, "save the query file as UTF-8") from error
    except FileNotFoundError as error:
        raise InputError(f"there is no query file {path}", _near(path)) from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HamletError(f"cannot write {path}: {error.strerror or error}") from error


def _near(path: Path) -> str | None:
    """Other query files in the same folder."""
    try:
        found = sorted(each.name for each in path.parent.glob("*.sase"))
    except OSError:
        return None
    if not found:
        return None
    return "there is " + ", ".join(found[:5]) + (", ..." if len(found) > 5 else "")
