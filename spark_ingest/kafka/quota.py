"""Computes how many records of each partition an epoch reads."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from confluent_kafka import Message

from spark_ingest.kafka.topic_metadata import size

GUESS = 256.0
AGAIN = 10.0


def fair_shares(waiting: Mapping[int, int], most: int) -> dict[int, int]:
    """Shares `most` records: small partitions are read completely, the others equally, so that none
    lags and holds back the watermark."""
    shares = dict.fromkeys(waiting, 0)
    left = max(1, most)
    open_ = sorted(waiting, key=lambda each: (waiting[each], each))
    while open_ and left:
        first = open_.pop(0)
        # Rounded up: with fewer records than partitions the first ones get one each.
        shares[first] = min(waiting[first], -(-left // (len(open_) + 1)))
        left -= shares[first]
    return shares


class PartitionSizes:
    """Estimates the bytes per record from recent records: topics change slowly."""

    def __init__(self) -> None:
        self.bytes = GUESS
        self._seen: float | None = None

    def old(self) -> bool:
        return self._seen is None or time.monotonic() - self._seen > AGAIN

    def add(self, records: Iterable[Message]) -> None:
        sizes = [size(each) for each in records]
        if sizes:
            found = sum(sizes) / len(sizes)
            self.bytes = found if self._seen is None else (self.bytes + found) / 2
            self._seen = time.monotonic()
