"""Counts the states that are needed to count each trend once.

If a trend can be bound in two ways, counting needs the set of positions that the bindings of
a partial trend can have reached. Most patterns have about as many sets as positions, but
`SEQ((A | B)*, A, (A | B), (A | B), ...)` must remember which of the last events were A's: 2^n.
"""

from __future__ import annotations

from runtime.language.automaton import PatternTemplate


def more_subsets_than(template: PatternTemplate, most: int) -> bool:
    """Whether the pattern, without its conditions, reaches more than `most` sets."""
    automaton = template.automaton
    follow = {p: sum(1 << q for q in after) for p, after in automaton.follow.items()}
    types: dict[str, int] = {}
    for position in template.positive:
        types[position.type] = types.get(position.type, 0) | 1 << position.index
    todo = [sum(1 << p for p in automaton.first) & of_type for of_type in types.values()]
    seen: set[int] = set()
    while todo and len(seen) <= most:
        subset = todo.pop()
        if subset and subset not in seen:
            seen.add(subset)
            ahead = 0
            for p, after in follow.items():
                if subset >> p & 1:
                    ahead |= after
            todo += [ahead & of_type for of_type in types.values()]
    return len(seen) > most
