"""Chooses the faults of a history by its seed: every kind comes up before one comes up again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

#: Where a job reads and writes: files in folders, or topics of Kafka.
FILES, TOPICS = "files", "topics"
# One fault in this many is one of a job on Kafka.
TOPICS_SHARE = 6
# The last fault of a segment, if it is one of its faults: every kind of file is there by then.
LAST = "flip while down"


@dataclass(frozen=True)
class Step:
    """One fault. `seed` is that of everything the fault chooses by chance."""

    number: int
    segment: str
    fault: str
    seed: int

    def __str__(self) -> str:
        return f"{self.number:3} {self.segment:6} {self.fault}"


def schedule(seed: int, faults: int, kinds: Mapping[str, Mapping[str, int]]) -> list[Step]:
    """`kinds` gives each segment its faults, with how often one is chosen against others. All
    faults of one segment come after all of another."""
    chance = random.Random(seed)
    topics = faults // TOPICS_SHARE if kinds[FILES] else faults
    sizes = {TOPICS: topics if kinds[TOPICS] else 0}
    sizes[FILES] = faults - sizes[TOPICS]
    steps: list[Step] = []
    for segment in (FILES, TOPICS):
        for fault in _chosen(chance, sizes[segment], kinds[segment]):
            steps.append(Step(len(steps) + 1, segment, fault, chance.randrange(1 << 32)))
    return steps


def _chosen(chance: random.Random, size: int, weights: Mapping[str, int]) -> list[str]:
    """Rounds of all kinds in an order of their own, the last one cut; a kind of greater weight is
    more often in a round. `LAST` comes last."""
    round_ = [fault for fault, weight in weights.items() for _ in range(weight)]
    found: list[str] = []
    rest = list(weights)  # the first round has every kind once
    while len(found) < size:
        chance.shuffle(rest)
        found += rest
        rest = round_.copy()
    found = found[:size]
    if LAST in found:
        found.remove(LAST)
        found.append(LAST)
    return found
