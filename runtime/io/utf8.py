"""Replaces invalid UTF-8 by marks, so that text can be parsed and invalid rows found."""

from __future__ import annotations

import codecs

# Marks bytes that are not UTF-8. No text contains it: Unicode will never assign it.
NOT_UTF8 = "\uffff"


def mark_invalid_bytes(data: bytes) -> tuple[bytes, bool]:
    """The data as UTF-8, and whether it was invalid: then each invalid byte is NOT_UTF8 and its
    code."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", _MARK).encode(), True
    return data, False


def without_marks(text: str) -> str:
    return text.replace(NOT_UTF8, "")


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return NOT_UTF8 + "".join(f"\\x{byte:02x}" for byte in bad), error.end


_MARK = "hamlet.mark"
codecs.register_error(_MARK, _mark)
