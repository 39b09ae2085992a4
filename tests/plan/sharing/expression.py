"""What a shared graphlet computes, in whole numbers: counts as expressions over snapshots.

The readable reference of the kernels, and what `explain` tells an example with. Laws:

- A **Snapshot** is a variable with a value for each query. An **Expression** is linear in them,
  so adding expressions and then putting a query's values in is the same as the reverse.
- An **Operator** is a whole burst: `u`, the partial trends an event would continue, becomes
  `factor * u`; their sum `v` of an attribute becomes `factor * (v + weight * u)`. Operators
  commute, and do not depend on the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from math import prod


@dataclass(frozen=True, eq=False)
class Snapshot:
    name: str
    values: Mapping[str, int]


@dataclass(frozen=True)
class Expression:
    """Coefficients by snapshot, as the HAMLET paper keeps them for each event (`4x + z`)."""

    terms: Mapping[Snapshot, int]

    def __add__(self, other: Expression) -> Expression:
        either = dict.fromkeys((*self.terms, *other.terms))
        return Expression({s: self.terms.get(s, 0) + other.terms.get(s, 0) for s in either})

    def __rmul__(self, factor: int) -> Expression:
        return Expression({s: factor * coefficient for s, coefficient in self.terms.items()})

    def of(self, query: str) -> int:
        """The value for one query."""
        return sum(c * snapshot.values[query] for snapshot, c in self.terms.items())

    def __str__(self) -> str:
        return " + ".join(_coefficient(c) + s.name for s, c in self.terms.items() if c) or "0"


NOTHING = Expression({})


class Graphlet:
    """A burst of one Kleene type, propagated once for all queries of its entering snapshot."""

    def __init__(self, entering: Snapshot) -> None:
        self.entering = entering
        self.counts: list[Expression] = []

    def add(self, cut: Mapping[str, Set[int]] | None = None, name: str = "z") -> Expression:
        """The next event: the trends that end there. `cut` has, for queries under an adjacent
        condition, the earlier events that it may not follow. Where queries differ on that, the
        count becomes a snapshot at event level (definition 9)."""
        cuts = {query: (cut or {}).get(query, frozenset()) for query in self.entering.values}
        counts = {query: self._following(unlike) for query, unlike in cuts.items()}
        if len(set(map(frozenset, cuts.values()))) == 1:
            return self._keep(next(iter(counts.values())), 1)
        values = {query: count.of(query) for query, count in counts.items()}
        return self._keep(Expression({Snapshot(name, values): 1}), 1)

    def add_group(self, size: int) -> Expression:
        """Events of equal time: none follows another, so all have the same count."""
        return self._keep(self._following(frozenset()), size)

    @property
    def total(self) -> Expression:
        return sum(self.counts, NOTHING)

    def leave(self, name: str, others: Mapping[str, int]) -> Snapshot:
        """The snapshot that enters the next graphlet (equation 5): all that entered this one, all
        that ended in it, and what `others` came in between, by query."""
        before = Expression({self.entering: 1}) + self.total
        values = {q: before.of(q) + others.get(q, 0) for q in self.entering.values}
        return Snapshot(name, values)

    def _following(self, cut: Set[int]) -> Expression:
        earlier = [count for place, count in enumerate(self.counts) if place not in cut]
        return sum(earlier, Expression({self.entering: 1}))

    def _keep(self, count: Expression, times: int) -> Expression:
        self.counts += [count] * times
        return count


@dataclass(frozen=True)
class Operator:
    """A burst in closed form: the product of (1 + m) over its groups of m events of equal time,
    and the sum of s / (1 + m) where s is a group's sum of the attribute."""

    factor: int = 1
    weight: Fraction = Fraction(0)

    def then(self, later: Operator) -> Operator:
        return Operator(self.factor * later.factor, self.weight + later.weight)

    def apply(self, u: int, v: int) -> tuple[int, int]:
        """The count and the sum that the next event would continue."""
        return self.factor * u, int(self.factor * (v + self.weight * u))


def operator(groups: Iterable[Sequence[int]]) -> Operator:
    """The operator of the events that a query picked: their values, by groups of equal time."""
    picked = [group for group in groups if group]
    weight = sum((Fraction(sum(group), 1 + len(group)) for group in picked), Fraction(0))
    return Operator(prod(1 + len(group) for group in picked), weight)


def _coefficient(c: int) -> str:
    if c == 1:
        return ""
    power = c.bit_length() - 1
    return f"2^{power} " if c == 1 << power and c > 9_999 else f"{c}"
