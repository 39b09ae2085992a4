"""Values in Avro's binary encoding, written and read without a library, and random damage."""

from __future__ import annotations

from random import Random

#: What `decoded` reads: a time, a type and, after the branch of a union, perhaps a number.
Record = tuple[int, bytes, int | None]


def long(value: int) -> bytes:
    zigzag = (value << 1) ^ (value >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def encoded(time: int, type_: bytes, n: int | None) -> bytes:
    last = long(0) if n is None else long(1) + long(n)
    return long(time) + long(len(type_)) + type_ + last


def decoded(value: bytes) -> tuple[Record, bytes]:
    """A record, and the bytes after it. Raises a ValueError if the value does not begin with
    one."""
    time, rest = _number(value)
    length, rest = _number(rest)
    if not 0 <= length <= len(rest):
        raise ValueError("the text is longer than the value")
    type_, rest = rest[:length], rest[length:]
    branch, rest = _number(rest, bits=32)
    if branch not in (0, 1):
        raise ValueError("the union has no such branch")
    n, rest = _number(rest) if branch else (None, rest)
    return (time, type_, n), rest


def _number(data: bytes, bits: int = 64) -> tuple[int, bytes]:
    """A zigzag number of seven bits a byte, the lowest first. Higher bits are ignored."""
    zigzag = 0
    for place, byte in enumerate(data[: -(-bits // 7)]):
        zigzag |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            zigzag &= 2**bits - 1
            return (zigzag >> 1) ^ -(zigzag & 1), data[place + 1 :]
    raise ValueError("the number has no end")


def random_value(chance: Random) -> bytes:
    """A record, half of them damaged."""
    time = chance.choice([chance.randrange(10**6), -chance.randrange(10**6), 2**53, -(2**62)])
    type_ = chance.choice(["A", "B", "", "\u00e4\u20ac", "A" * 200]).encode()
    n = chance.choice([None, 0, 7, -1, chance.randrange(2**62), -(2**63)])
    if chance.random() < 0.02:  # a text that no memory would hold
        return long(time) + long(chance.choice([2**29, 2**31 - 9, 2**62, -3])) + type_
    value = encoded(time, type_, n)
    return damaged(value, chance) if chance.random() < 0.5 else value


def damaged(value: bytes, chance: Random) -> bytes:
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(value) + 1)
        put = chance.choice([b"", bytes([chance.randrange(256)]), b"\xff" * 3, b"\x80", value[:2]])
        value = value[:at] + put + value[at + chance.randrange(3) :]
    return value[: chance.randrange(len(value) + 1)] if chance.random() < 0.1 else value
