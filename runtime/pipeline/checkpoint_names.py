"""The names of the files of a checkpoint: each tells which run wrote it, and for which epoch."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runtime.pipeline.blob_store import CorruptCheckpoint

# Nine digits are enough for all runs that there will be, but anybody can write a file with the
# highest number: the next claims have more digits.
_OWNER = r"((?:\d{9}|[1-9]\d{9,17})-[0-9a-f]{12})"
_HIGHEST = 10**18 - 1
# Any of them shows that there was a claim: the first one may be lost.
CLAIM = re.compile(rf"owners/{_OWNER}\.(owner|base|published)")
BASE = re.compile(rf"owners/{_OWNER}\.base")
MARK = re.compile(rf"owners/{_OWNER}\.published")
RECORD = re.compile(rf"epochs/(\d{{9}})-{_OWNER}\.epoch")
STATE = re.compile(rf"state/\d{{9}}-{_OWNER}-\d+-\d+-[a-z]+\.state")
# A claim, a lease, or a file of an epoch; also one that is unfinished.
_OF_CLAIM = re.compile(rf"(?:(?:owners|leases)/\.?|epochs/\.){_OWNER}(?:\.|$)")
_OF_EPOCH = re.compile(rf"(?:^|/)\.?(\d{{9}})-{_OWNER}[.-]")

Order = tuple[int, str]


def claim_order(claim: str) -> Order:
    """Claims are in the order of their numbers. One with more digits is higher."""
    return len(claim), claim


def is_higher(claim: str, other: str) -> bool:
    return claim_order(claim) > claim_order(other)


def highest(claims: Iterable[str]) -> str | None:
    return max(claims, key=claim_order, default=None)


def next_claim(earlier: Iterable[str], run: str) -> str:
    """A claim above all others."""
    last = highest(earlier)
    number = 0 if last is None else int(last.partition("-")[0])
    if number == _HIGHEST:
        raise CorruptCheckpoint(
            f"the claim {last} is not one of Hamlet: there is no higher number",
            f"make sure that no run uses the checkpoint, then delete the files with {last} in "
            "their names, in a/ and b/",
        )
    return f"{number + 1:09d}-{run}"


def claim_of(record: str) -> str:
    return _matched(record)[2]


def epoch_of(record: str) -> int:
    return int(_matched(record)[1])


def record_order(record: str) -> tuple[Order, int]:
    """Records are in the order of their claims, those of a claim in that of their epochs."""
    return claim_order(claim_of(record)), epoch_of(record)


def _matched(record: str) -> re.Match[str]:
    match = RECORD.fullmatch(record)
    assert match is not None
    return match


def is_left_over(name: str, owner: str, epoch: int) -> bool:
    """Whether a file is of a run before the `owner`, or one of the owner's for an `epoch` that is
    committed or one before it."""
    found = _OF_CLAIM.search(name)
    if found is not None:
        return is_higher(owner, found[1])
    found = _OF_EPOCH.search(name)
    if found is None:
        return False
    mine = found[2] == owner and int(found[1]) <= epoch
    return mine or is_higher(owner, found[2])
