"""Bytes that should be UTF-8, made so that all of them are and the bad ones can be found."""

from __future__ import annotations

import codecs

# Stands before bytes that are no UTF-8. No text holds it: Unicode will never assign it.
NOT_UTF8 = "\uffff"


def clean(data: bytes) -> tuple[bytes, bool]:
    """The data as UTF-8, and whether it was not: then bad bytes are NOT_UTF8 and their code."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", _MARK).encode(), True
    return data, False


def shown(text: str) -> str:
    return text.replace(NOT_UTF8, "")


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return NOT_UTF8 + "".join(f"\\x{byte:02x}" for byte in bad), error.end


_MARK = "hamlet.mark"
codecs.register_error(_MARK, _mark)
