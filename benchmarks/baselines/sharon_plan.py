"""Decides which queries share which segments, with SHARON's optimizer and our costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.baselines.elements import Element
from runtime.plan.planners import sharon
from runtime.plan.planners.sharon.benefit import place
from runtime.plan.planners.sharon.candidates import Pattern, Queries, Weight

#: What a START event adds to the update of a shared segment, and to asking for its outcome, against
#: that of a single count. Set by the streams of
#: sharon-11 and sharon-12, in SHARON's favour: with less, plans share what then takes longer.
ROW = 2.0


def segments(
    queries: Mapping[str, Sequence[Element]], rates: Mapping[str, float]
) -> dict[str, dict[int, Pattern]]:
    """By query: the shared segments, by the place where they begin. Elements that are flattened
    are in none of them."""
    labels = {name: _labels(name, parts) for name, parts in queries.items()}
    found = sharon.plan(labels, weight=_weight(labels, rates))
    chosen: dict[str, dict[int, Pattern]] = {name: {} for name in queries}
    for pattern, sharing in found.chosen:
        for name in sharing:
            chosen[name][place(pattern, labels[name])] = pattern
    return chosen


def _labels(name: str, parts: Sequence[Element]) -> list[str]:
    return [each.label if each.plain else f"{each.label}\n{name}+" for each in parts]


def _weight(labels: Mapping[str, Sequence[str]], rates: Mapping[str, float]) -> Weight:
    """Updates that are saved in a slice, on average."""

    def rate(types: Sequence[str]) -> float:
        return sum(rates.get(each, 0.0) for each in types)

    def gain(pattern: Pattern, sequence: Sequence[str]) -> float:
        end = place(pattern, sequence) + len(pattern)
        asked = rate(sequence[end : end + 1]) if end < len(sequence) else 1.0
        starts = rate(pattern[:1])
        return rate(pattern) - starts - min(asked, rate(pattern[-1:])) * (1.0 + ROW * starts)

    def weight(pattern: Pattern, sharing: Queries) -> float:
        cost = rate(pattern) * (1.0 + ROW * rate(pattern[:1]))
        return sum(gain(pattern, labels[name]) for name in sharing) - cost

    return weight
