"""What there is to say about a workload before it runs. Values only; `build` fills them in.

Every name in here is a key of `.json()`, so that renaming one is a change of the format.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gap:
    """Where a NOT must hold: between two neighbours of a trend, or (None) up to the window's
    start or end."""

    after: str | None
    before: str | None


@dataclass(frozen=True)
class NegationPlan:
    """A NOT of a query: the types it names, those that complete it, and the gaps it watches.
    One that stands inside another NOT watches gaps between that one's events."""

    pattern: str
    types: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]
    ends: tuple[str, ...]
    gaps: tuple[Gap, ...]
    nested: bool


@dataclass(frozen=True)
class Predecessors:
    """The types that may come directly before `type` in a trend."""

    type: str
    before: tuple[str, ...]


@dataclass(frozen=True)
class RejectedOperator:
    """An operator that does not support a query, and what in the query it does not support."""

    operator: str
    obstacles: tuple[str, ...]


@dataclass(frozen=True)
class QueryPlan:
    """One query. `twice` is a trend that has two bindings, if there is one: then the automaton
    is made deterministic, so that it is counted once. `operator` evaluates it; `rejected` are the
    operators that were asked before, each with what it does not support. `neighbours` says how
    each adjacent condition is answered. `alone` says why it shares nothing."""

    name: str
    returns: tuple[str, ...]
    pattern: str
    semantics: str
    window: str
    within: int
    slide: int
    counted: bool
    partition_by: tuple[str, ...]
    equivalence: tuple[str, ...]
    group_by: tuple[str, ...]
    local: tuple[str, ...]
    adjacent: tuple[str, ...]
    least_length: int
    having: str | None
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    predecessors: tuple[Predecessors, ...]
    negations: tuple[NegationPlan, ...]
    granularity: str
    event_grained: tuple[str, ...]
    why: str
    deterministic: bool
    twice: str | None
    kleene: tuple[str, ...]
    operator: str
    rejected: tuple[RejectedOperator, ...]
    neighbours: tuple[str, ...]
    alone: str | None


@dataclass(frozen=True)
class RoutingPlan:
    """Queries that split the stream by the same attributes."""

    attributes: tuple[str, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True)
class KleenePart:
    """A Kleene sub-pattern that these queries have in common."""

    pattern: str
    queries: tuple[str, ...]


@dataclass(frozen=True)
class OperatorPlan:
    """A node of the physical plan: one operator and the queries that it evaluates together. `pane`
    is in microseconds or events. `windows` is how overlapping windows are kept. `kleene` are
    Kleene parts that several of the queries have; `shared_parts` are the types of parts that they
    share as one step. `reason` says why these queries form a node, if that needs saying."""

    operator: str
    queries: tuple[str, ...]
    summary: str
    cost: tuple[str, ...]
    partition_by: tuple[str, ...]
    semantics: str
    pane: int
    pane_text: str
    counted: bool
    windows: str
    why_windows: str
    aggregates: tuple[str, ...]
    predicates: tuple[str, ...]
    kleene: tuple[KleenePart, ...]
    shared_parts: tuple[tuple[str, ...], ...]
    reason: str


@dataclass(frozen=True)
class SetPlan:
    """A transition that queries share, with snapshots of a type, and why they do."""

    source: str
    target: str
    queries: tuple[str, ...]
    snapshots: str
    why: str


@dataclass(frozen=True)
class LongerPart:
    """A part of several types that queries share as one step, or could."""

    part: str
    why: str


@dataclass(frozen=True)
class SharingPlanSection:
    """What the planner lets queries share before it has seen an event. Costs are estimates, in
    nanoseconds for each event of the stream; `alternatives` are those of the other planners."""

    planner: str
    why: str
    cost: float
    alternatives: dict[str, float]
    transitions: tuple[SetPlan, ...]
    parts: tuple[LongerPart, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TypePlan:
    """An event type of the merged template: who starts and ends trends with it, who forbids it."""

    type: str
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    negated: tuple[str, ...]
    positive: bool


@dataclass(frozen=True)
class StepPlan:
    """A transition of the merged template and the queries for which it holds: with a NOT in
    between (`guarded`), back to where a repeated part begins (`repeats`), inside a Kleene part
    (`kleene`), inside one that is `shared`."""

    source: str
    target: str
    queries: tuple[str, ...]
    guarded: tuple[str, ...]
    repeats: tuple[str, ...]
    kleene: tuple[str, ...]
    shared: tuple[str, ...]


@dataclass(frozen=True)
class TemplatePlan:
    """The merged template: each type once, transitions labelled by queries (hamlet.txt 3.1)."""

    types: tuple[TypePlan, ...]
    steps: tuple[StepPlan, ...]


@dataclass(frozen=True)
class ExplanationSections:
    """All that is said about a workload."""

    ties: str
    queries: tuple[QueryPlan, ...]
    routing: tuple[RoutingPlan, ...]
    operators: tuple[OperatorPlan, ...]
    plan: SharingPlanSection
    template: TemplatePlan
