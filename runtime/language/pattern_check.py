"""Rejects patterns that are too large, can be empty or misplace NOT."""

from __future__ import annotations

from runtime.language import ast as s
from runtime.language.automaton import OPEN, SHUT, PatternTemplate
from runtime.language.determinize import more_subsets_than
from runtime.language.error_collector import ErrorCollector

# A position is a bit of a 64-bit word in the kernels; guards are antichains of sets of NOTs.
MOST_POSITIONS = 64
MOST_NEGATIONS = 12
MOST_STATES = 1_024


def check_size(pattern: s.Pattern, report: ErrorCollector) -> bool:
    """Checks the size before compiling: the automaton grows with the square of the positions."""
    events = len(s.leaves(pattern))
    if events > MOST_POSITIONS:
        message = f"this pattern names {events} events; {MOST_POSITIONS} is the most"
        report(message, pattern.span)
        return False
    negations = _count_negations(pattern)
    if negations > MOST_NEGATIONS:
        message = f"this pattern has {negations} NOTs; {MOST_NEGATIONS} is the most"
        report(message, pattern.span)
        return False
    return True


def check_negations(pattern: s.Pattern, report: ErrorCollector) -> None:
    sides = (pattern.left, pattern.right) if isinstance(pattern, s.Both) else (pattern,)
    for side in sides:
        if isinstance(side, s.Not):
            hint = "a trend needs an event: SEQ(A, NOT X)"
            report("NOT around the whole pattern leaves nothing to match", side.span, hint)
        else:
            _misplaced(side, report)


def check_states(pattern: s.Pattern, template: PatternTemplate, report: ErrorCollector) -> None:
    """Limits the states of queries that need one for each set of positions that bindings reach."""
    if more_subsets_than(template, MOST_STATES):
        message = f"counting each trend once would take more than {MOST_STATES:,} states"
        hint = "a repeated part can end in too many ways; make what follows it tell them apart"
        report(message, pattern.span, hint)


def check_empty(pattern: s.Pattern, template: PatternTemplate, report: ErrorCollector) -> None:
    """A trend has at least one event, and so has a negated match."""
    if template.automaton.nullable != SHUT and not _is_not(pattern):
        report("this pattern can match the empty trend", pattern.span, _empty_hint(pattern))
    bodies = _negated_bodies(pattern)
    for body, negation in zip(bodies, template.negations, strict=True):
        if negation.nullable != SHUT:
            message = "the pattern under NOT can match nothing at all, so NOT would never hold"
            report(message, body.span, _empty_hint(body))
        elif any(guard != OPEN for guard in (*negation.first.values(), *negation.last.values())):
            message = "a NOT at the start or end of a pattern under NOT has no gap to check"
            report(message, body.span, "inside NOT, a NOT needs an event on both sides")


def check_aliases(template: PatternTemplate, report: ErrorCollector) -> None:
    types = {p.type for p in template.positions}
    bound: dict[str, str] = {}
    for position in template.positions:
        alias = position.alias
        if alias is None:
            continue
        if alias in types and alias != position.type:
            message = f"alias `{alias}` is also an event type of this pattern"
            report(message, position.span, "choose another alias")
        elif bound.setdefault(alias, position.type) != position.type:
            message = f"alias `{alias}` names both `{bound[alias]}` and `{position.type}`"
            report(message, position.span, "give each type an alias of its own")


def _count_negations(pattern: s.Pattern) -> int:
    own = int(isinstance(pattern, s.Not))
    return own + sum(_count_negations(part) for part in s.children(pattern))


def _is_not(pattern: s.Pattern) -> bool:
    return isinstance(pattern, s.Not)


def _misplaced(pattern: s.Pattern, report: ErrorCollector) -> None:
    """Rejects a NOT outside a sequence: it needs neighbours with a gap between them."""
    for part in s.children(pattern):
        if isinstance(part, s.Not) and not isinstance(pattern, s.Seq):
            hint = "put it between events: SEQ(A, NOT X, B)"
            report("NOT is only allowed in a sequence", part.span, hint)
        _misplaced(part, report)


def _negated_bodies(pattern: s.Pattern) -> list[s.Pattern]:
    """The bodies of the NOTs, in the order of the compiler's numbers."""
    found: list[s.Pattern] = [pattern.body] if isinstance(pattern, s.Not) else []
    for part in s.children(pattern):
        found += _negated_bodies(part)
    return found


def _empty_hint(pattern: s.Pattern) -> str:
    if isinstance(pattern, s.Star):
        return "`+` asks for one event or more"
    return "at least one event must not be optional"
