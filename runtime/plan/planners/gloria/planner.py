"""Plans which queries share which transitions, and why, from the rates of event types."""

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

FINE = 64  # the nodes that a pool of a small workload keeps
SMALL = 3000  # a workload is small if its nodes times the paths from each are at most this many
GROUPS = 64  # the most open groups of contradicting chains in one component


@dataclass(frozen=True)
class TransitionQueries:
    """Queries that share a transition with snapshots of a type; None: each evaluates it alone. A
    single query with snapshots is the rest of a larger set."""

    queries: tuple[str, ...]
    snapshots: str | None
    why: str


@dataclass(frozen=True)
class TransitionPlan:
    """Every query of the transition is in one set. A transition inside a loop and the same one
    outside have different sets, even with the same snapshots."""

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
    """The plan of a workload. Without `costs`, the paper's costs from the rates. `greedily`: plan
    pool by pool, without a graph."""
    if costs is None:
        _check(queries, rates)
    builder = _PlanBuilder(costs or PaperCosts(rates), options or CandidateOptions(), greedily)
    all_chains = chains(queries)
    builder.add_unshareable(all_chains)
    for component in components(all_chains.queries):
        builder.add_component(component, all_chains)
    return builder.plan()


def _check(queries: Mapping[str, PatternPart], rates: Mapping[str, float]) -> None:
    for name, pattern in queries.items():
        for type_ in all_types(flat(pattern)):
            if not rates.get(type_, -1.0) >= 0:
                raise ValueError(f"query {name} has {type_}, which has no rate")


class _PlanBuilder:
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

    def add_unshareable(self, all_chains: TypeChains) -> None:
        """Transitions that cannot be shared cost the same in every plan."""
        costs = self.weights.costs
        fixed = sum(costs.start(type_, 1) for type_ in all_chains.firsts)
        for (transition, name), why in all_chains.alone.items():
            fixed += costs.apart(*transition, 1)
            self.sets[transition].append(TransitionQueries((name,), None, why))
        self._add(fixed, fixed, fixed)

    def add_component(self, component: list[TypeChain], all_chains: TypeChains) -> None:
        queries = {chain: all_chains.queries[chain] for chain in component}
        pools = order(component)
        if pools is not None:
            self._add_group(pools, queries)
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
            self._add_group(ordered, {chain: queries[chain] for chain in group}, elsewhere)

    def _add_group(
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
            paths += self._search(template)
        path, cost = lightest(template, self.weights, paths)
        self._add(
            cost,
            weigh(template, self.weights, nothing),
            weigh(template, self.weights, everything),
        )
        self._add_sets(template, path, elsewhere)

    def _search(self, template: GloriaTemplate) -> list[Path]:
        """Searches with the paper's principles alone and, if enabled, also with merged subsets:
        the limit on nodes may make the second miss a plan that the first finds."""
        work = sum(len(place.alike) for place in template.places)
        limit = max(self.options.limit, min(FINE, SMALL // work))
        wide = replace(self.options, limit=limit)
        both = {wide, replace(wide, subsets=0)}
        paths = []
        for options in sorted(both, key=lambda each: each.subsets):
            graph = grow(template, self.weights, options)
            paths.append(search(graph, self.weights)[0])
        self.generated += graph.generated
        self.kept += graph.kept
        return paths

    def _add(self, cost: float, nothing: float, everything: float) -> None:
        self.cost += cost
        self.never += nothing
        self.always += everything

    def _add_sets(self, template: GloriaTemplate, path: Path, elsewhere: Set[Pool]) -> None:
        for place, sets in zip(template.places, path, strict=True):
            arrived = arriving(place, path)
            explained = [
                TransitionQueries(
                    template.queries(chosen[0]),
                    chosen[1],
                    rationale.why_shared(self.weights, place, arrived, chosen),
                )
                for chosen in sets
            ]
            if rest := unshared(sets, place.queries):
                why = rationale.why_apart(self.weights, place, rest, place.pool in elsewhere)
                explained.append(TransitionQueries(template.queries(rest), None, why))
            for transition in place.pool.transitions:
                self.sets[transition] += explained
