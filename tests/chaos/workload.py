"""The queries of a history: some stay, others come and go."""

from __future__ import annotations

import random
import re

from cluster.faults import stream

_ADDED = """
QUERY {name}
RETURN district, COUNT(*) AS trends, MAX(B.value) AS most
PATTERN SEQ(A, B+)
WHERE [driver] AND B.value > {least}
GROUP-BY district
WITHIN {within} seconds SLIDE {slide} seconds
"""


def first_queries() -> dict[str, str]:
    """By name."""
    parts = re.split(r"(?=^QUERY )", stream.WORKLOAD, flags=re.MULTILINE)
    return {part.split()[1]: part for part in parts if part.strip()}


#: Queries that are never removed: their rows show that nothing was lost in all the time.
STAYING = frozenset(re.findall(r"^QUERY (\w+)", stream.KEPT, re.MULTILINE))


def new_query(name: str, chance: random.Random) -> str:
    slide = chance.choice((5, 10))
    return _ADDED.format(
        name=name, least=chance.randrange(80), within=slide * chance.randrange(1, 4), slide=slide
    )
