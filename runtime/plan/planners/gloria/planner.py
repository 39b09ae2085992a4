"""From queries and the rates of their types to a plan: who shares which transition, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from runtime.plan.planners.gloria import rationale
from runtime.plan.planners.gloria.chains import TypeChain, TypeChains, chains
from runtime.plan.planners.gloria.costs import GloriaCosts, PaperCosts
from runtime.plan.planners.gloria.edge_cost import EdgeCosts, unshared
from runtime.plan.planners.gloria.graph import CandidateOptions, GraphSize, grow
from runtime.plan.planners.gloria.greedy import greedy
from runtime.plan.planners.gloria.groups import components, cut, order
from runtime.plan.planners.gloria.patterns import PatternPart, Pool, Transition, all_types, flat
from runtime.plan.planners.gloria.search import (
    Path,
    always,
    arriving,
    lightest,
    never,
    search,
    weigh,
)
from runtime.plan.planners.gloria.template import GloriaTemplate, merge

FINE = 64  # nodes that a pool of a small workload keeps
SMALL = 3000  # nodes of all pools, each times the ways from it, up to which a workload is small
GROUPS = 64  # of chains that contradict each other, in one component


@dataclass(frozen=True)
class TransitionQueries:
    """Queries that share a transition with snapshots of a type; None: each evaluates it alone. A
    set of one query with snapshots is what is left of a set that parted."""

    queries: tuple[str, ...]
    snapshots: str | None
    why: str


@dataclass(frozen=True)
class TransitionPlan:
    """Every query of the transition is in one set. Sets of a loop and of the same transition
    outside of one are different sets, even with the same snapshots."""

    source: str
    target: str
    sets: tuple[TransitionQueries, ...]


@dataclass(frozen=True)
class GloriaPlan:
    """`never` and `always` are the costs of sharing nothing and of always merging. `generated` and
    `kept` are the sizes of the graph before and after pruning. `notes` says what was cut."""

    transitions: tuple[TransitionPlan, ...]
    cost: float
    never: float
    always: float
    generated: GraphSize
    kept: GraphSize
    notes: tuple[str, ...]


def plan(
    queries: Mapping[str, PatternPart],
    rates: Mapping[str, float],
    costs: GloriaCosts | None = None,
    options: CandidateOptions | None = None,
    *,
    greedily: bool = False,
) -> GloriaPlan:
    """The plan of a workload. Without `costs`, the paper's own, by the rates. `greedily`: pool by
    pool, without a graph."""
    if costs is None:
        _check(queries, rates)
    made = _Making(costs or PaperCosts(rates), options or CandidateOptions(), greedily)
    found = chains(queries)
    made.alone(found)
    for together in components(found.queries):
        made.component(together, found)
    return made.plan()


def _check(queries: Mapping[str, PatternPart], rates: Mapping[str, float]) -> None:
    for name, pattern in queries.items():
        for type_ in all_types(flat(pattern)):
            if not rates.get(type_, -1.0) >= 0:
                raise ValueError(f"query {name} has {type_}, of which there is no rate")


class _Making:
    def __init__(self, costs: GloriaCosts, options: CandidateOptions, greedily: bool) -> None:
        self.weights = EdgeCosts(costs)
        self.options = options
        self.greedily = greedily
        self.sets: defaultdict[Transition, list[TransitionQueries]] = defaultdict(list)
        self.cost = self.never = self.always = 0.0
        self.generated = self.kept = GraphSize()
        self.notes: list[str] = []

    def plan(self) -> GloriaPlan:
        transitions = (TransitionPlan(a, b, tuple(sets)) for (a, b), sets in self.sets.items())
        return GloriaPlan(
            tuple(transitions),
            self.cost,
            self.never,
            self.always,
            self.generated,
            self.kept,
            tuple(self.notes),
        )

    def alone(self, found: TypeChains) -> None:
        """What cannot be shared at all costs the same in every plan."""
        costs = self.weights.costs
        fixed = sum(costs.start(type_, 1) for type_ in found.firsts)
        for (transition, name), why in found.alone.items():
            fixed += costs.apart(*transition, 1)
            self.sets[transition].append(TransitionQueries((name,), None, why))
        self._add(fixed, fixed, fixed)

    def component(self, together: list[TypeChain], found: TypeChains) -> None:
        queries = {chain: found.queries[chain] for chain in together}
        pools = order(together)
        if pools is not None:
            self._group(pools, queries)
            return
        groups = cut({chain: len(names) for chain, names in queries.items()}, GROUPS)
        self.notes.append(
            f"{sum(map(len, queries.values()))} queries have their types in orders that contradict "
            f"each other: they are planned in {len(groups)} groups, and share within each"
        )
        counts = Counter(pool for group in groups for pool in {p for c in group for p in c.pools})
        elsewhere = {pool for pool, count in counts.items() if count > 1}
        for group in groups:
            ordered = order(group)
            assert ordered is not None, "a group has no cycle"
            self._group(ordered, {chain: queries[chain] for chain in group}, elsewhere)

    def _group(
        self,
        pools: list[Pool],
        queries: Mapping[TypeChain, list[str]],
        elsewhere: Set[Pool] = frozenset(),
    ) -> None:
        template = merge(pools, queries)
        nothing, everything = never(template), always(template, self.weights)
        paths = [nothing, everything]
        if self.greedily:
            paths = [greedy(template, self.weights)]
        elif len(template.names) > 1:
            paths += self._searched(template)
        path, cost = lightest(template, self.weights, paths)
        self._add(
            cost,
            weigh(template, self.weights, nothing),
            weigh(template, self.weights, everything),
        )
        self._tell(template, path, elsewhere)

    def _searched(self, template: GloriaTemplate) -> list[Path]:
        """By the paper's principles and, if asked, with merged subsets: the limit on nodes may
        keep the second from a plan that the first one finds."""
        work = sum(len(place.alike) for place in template.places)
        limit = max(self.options.limit, min(FINE, SMALL // work))
        wide = replace(self.options, limit=limit)
        both = {wide, replace(wide, subsets=0)}
        found = []
        for options in sorted(both, key=lambda each: each.subsets):
            graph = grow(template, self.weights, options)
            found.append(search(graph, self.weights)[0])
        self.generated += graph.generated
        self.kept += graph.kept
        return found

    def _add(self, cost: float, nothing: float, everything: float) -> None:
        self.cost += cost
        self.never += nothing
        self.always += everything

    def _tell(self, template: GloriaTemplate, path: Path, elsewhere: Set[Pool]) -> None:
        for place, sets in zip(template.places, path, strict=True):
            arrived = arriving(place, path)
            told = [
                TransitionQueries(
                    template.queries(chosen[0]),
                    chosen[1],
                    rationale.why_shared(self.weights, place, arrived, chosen),
                )
                for chosen in sets
            ]
            if rest := unshared(sets, place.queries):
                why = rationale.why_apart(self.weights, place, rest, place.pool in elsewhere)
                told.append(TransitionQueries(template.queries(rest), None, why))
            for transition in place.pool.transitions:
                self.sets[transition] += told
