"""Decides which queries build which part of their patterns together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.baselines.elements import Element

Part = tuple[Element, ...]

#: A repeated type has exponentially many matches, a single one as many as it has events.
KLEENE = 1_000


@dataclass(frozen=True)
class Core:
    """A part of the patterns of some queries, and the place where it begins in each."""

    part: Part
    places: Mapping[str, int]


def cores(queries: Mapping[str, Part]) -> list[Core]:
    """Greedily, what saves most: a repeated type before all else, then long parts of many queries.
    A query is in one core; if it has no part in common with another it is its own."""
    left = dict(queries)
    found: list[Core] = []
    while left:
        common = [core for core in _parts(left) if len(core.places) > 1]
        if not common:
            break
        found.append(max(common, key=_saved))
        left = {name: part for name, part in left.items() if name not in found[-1].places}
    return found + [Core(part, {name: 0}) for name, part in left.items()]


def _parts(queries: Mapping[str, Part]) -> list[Core]:
    found: dict[Part, dict[str, int]] = {}
    for name, whole in queries.items():
        for begin in range(len(whole)):
            for end in range(begin + 1, len(whole) + 1):
                if _worth(whole[begin:end]) > 1:
                    found.setdefault(whole[begin:end], {})[name] = begin
    return [Core(part, places) for part, places in found.items()]


def _worth(part: Sequence[Element]) -> int:
    return sum(KLEENE if each.repeated else 1 for each in part)


def _saved(core: Core) -> int:
    return (len(core.places) - 1) * _worth(core.part)
