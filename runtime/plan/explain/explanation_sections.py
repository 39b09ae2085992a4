"""The data of an explanation of a workload, filled in by `build`.

Every field name here is a key of `.json()`, so renaming one changes the format.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gap:
    """Where a NOT applies: between two adjacent events of a trend, or (None) up to the start or
    end of the window."""

    after: str | None
    before: str | None


@dataclass(frozen=True)
class NegationPlan:
    """A NOT of a query: the types it names, those that complete it, and the gaps in which it
    applies. A nested NOT applies between the events of the outer one."""

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
    """An operator that does not support a query, and the features it does not support."""

    operator: str
    obstacles: tuple[str, ...]


@dataclass(frozen=True)
class QueryPlan:
    """One query. `twice` is an example of a trend with two bindings, if there is one: then the
    automaton is made deterministic, so that it counts once. `operator` evaluates the query;
    `rejected` are the preferred operators that do not support it. `adjacent_evaluation` says how
    each adjacent condition is evaluated. `alone` says why the query shares nothing."""

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
    adjacent_evaluation: tuple[str, ...]
    alone: str | None


@dataclass(frozen=True)
class RoutingPlan:
    """Queries that split the stream by the same attributes."""

    attributes: tuple[str, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True)
class KleenePart:
    """A Kleene sub-pattern common to these queries."""

    pattern: str
    queries: tuple[str, ...]


@dataclass(frozen=True)
class OperatorPlan:
    """A node of the physical plan: one operator and the queries that it evaluates together.
    `state_words` are the 64-bit words that they keep per partition, or per event if an adjacent
    condition makes them keep events. `pane` is in microseconds or events. `windows` says how
    overlapping windows are kept. `kleene` are Kleene parts common to several queries;
    `shared_parts` are the types of parts that they share as one step. `reason` says why these
    queries form a node, if it is not obvious."""

    operator: str
    queries: tuple[str, ...]
    summary: str
    cost: tuple[str, ...]
    state_words: int
    state_per: str
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
    """A transition that queries share with snapshots of a type, and why."""

    source: str
    target: str
    queries: tuple[str, ...]
    snapshots: str
    why: str


@dataclass(frozen=True)
class LongerPart:
    """A sub-pattern of several types that queries share, or could share, as one step."""

    part: str
    why: str


@dataclass(frozen=True)
class SharingPlanSection:
    """The initial sharing plan, before any event, of the queries that `operator` evaluates. Costs
    are estimates in nanoseconds per event of the stream; `alternatives` are those of the other
    planners."""

    operator: str
    planner: str
    why: str
    cost: float
    alternatives: dict[str, float]
    transitions: tuple[SetPlan, ...]
    parts: tuple[LongerPart, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TypePlan:
    """An event type of the merged template and the queries that start, end or forbid with it."""

    type: str
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    negated: tuple[str, ...]
    positive: bool


@dataclass(frozen=True)
class StepPlan:
    """A transition of the merged template and its queries: those with a NOT in between
    (`guarded`), back to the start of a repetition (`repeats`), inside a Kleene part (`kleene`),
    and inside a `shared` one."""

    source: str
    target: str
    queries: tuple[str, ...]
    guarded: tuple[str, ...]
    repeats: tuple[str, ...]
    kleene: tuple[str, ...]
    shared: tuple[str, ...]


@dataclass(frozen=True)
class TemplatePlan:
    """The merged template: each type once, transitions labelled by queries (the HAMLET paper,
    section 3.1)."""

    types: tuple[TypePlan, ...]
    steps: tuple[StepPlan, ...]


@dataclass(frozen=True)
class InputSection:
    """The plan by which Spark reads an input, as Spark prints it."""

    name: str
    plan: str


@dataclass(frozen=True)
class ExplanationSections:
    """All sections of the explanation of a workload. `assumed_types` are the attributes whose types
    are not known, but assumed from the queries. `input` is None if the input is not known."""

    ties: str
    assumed_types: tuple[str, ...]
    queries: tuple[QueryPlan, ...]
    routing: tuple[RoutingPlan, ...]
    operators: tuple[OperatorPlan, ...]
    plan: SharingPlanSection
    template: TemplatePlan
    input: InputSection | None = None
