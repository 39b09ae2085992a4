"""The paper's benefit of sharing a pattern (equations 1 to 8), from the rates of event types.

A prefix or suffix that is empty costs nothing and adds no factor to the combination; the paper
leaves that case open. A type that occurs k times in a pattern counts k times in its rate, as its
events update k counts (section VII). If a pattern occurs more than once in a query, its first
occurrence is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runtime.plan.planners.sharon.candidates import Pattern, Queries, Weight

Rates = Mapping[str, float]
"""Events of each type in a unit of time; 1 for a type that is not listed."""


def rate(types: Iterable[str], rates: Rates) -> float:
    """Equation 1: events that a sequence of these types matches."""
    return sum(rates.get(each, 1.0) for each in types)


def counting(types: Sequence[str], rates: Rates) -> float:
    """Equation 2: each matched event updates a count for each event that starts a sequence."""
    return rates.get(types[0], 1.0) * rate(types, rates) if types else 0.0


def place(pattern: Sequence[str], sequence: Sequence[str]) -> int:
    """The index of the pattern in a sequence that contains it."""
    length, types = len(pattern), tuple(pattern)
    starts = range(len(sequence) - length + 1)
    return next(start for start in starts if tuple(sequence[start : start + length]) == types)


def shared(pattern: Sequence[str], sequence: Sequence[str], rates: Rates) -> float:
    """Equation 6: the remaining cost of one query if the pattern is counted elsewhere."""
    start = place(pattern, sequence)
    prefix, suffix = sequence[:start], sequence[start + len(pattern) :]
    computation = counting(prefix, rates) + counting(suffix, rates)  # equation 4
    if not prefix and not suffix:
        return computation
    combination = rates.get(pattern[0], 1.0)  # equation 5
    for part in (prefix, suffix):
        if part:
            combination *= rates.get(part[0], 1.0)
    return computation + combination


def benefit(pattern: Sequence[str], sequences: Iterable[Sequence[str]], rates: Rates) -> float:
    """Definition 5: sharing pays if this is above zero."""
    gains = (counting(each, rates) - shared(pattern, each, rates) for each in sequences)
    return sum(gains) - counting(pattern, rates)


def benefit_weight(queries: Mapping[str, Sequence[str]], rates: Rates) -> Weight:
    """The benefit as a weight. The gain of a query from a pattern is computed once."""
    alone = {query: counting(sequence, rates) for query, sequence in queries.items()}
    gains_of: dict[Pattern, dict[str, float]] = {}

    def weight(pattern: Pattern, sharing: Queries) -> float:
        gains = gains_of.setdefault(pattern, {})
        for query in sharing:
            if query not in gains:
                gains[query] = alone[query] - shared(pattern, queries[query], rates)
        return sum([gains[query] for query in sharing]) - counting(pattern, rates)

    return weight
