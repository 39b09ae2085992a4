"""Finds and shows names of files and jobs that are not UTF-8."""

# Python reads the bytes of a name that are not UTF-8 as half characters, which no text can have.
_BYTES = {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)}


def is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def with_bytes_escaped(name: str) -> str:
    """For messages: `\\xff.csv`, as shells take it."""
    return name.translate(_BYTES)
