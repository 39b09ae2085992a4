"""The central optimizer: what it hears, what it learns, and what it tells all engines to do.

It knows no cluster: an actor wraps it, and a run in one process has one of its own. Nobody waits
for it, and without it engines go on as they are.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from runtime.language.query import Query
from runtime.optimizer.coefficient_fit import Pricing, Report
from runtime.optimizer.cost_fit import Learner
from runtime.optimizer.model_report import ModelFacts, Replan
from runtime.optimizer.rate_tracker import Rates
from runtime.plan.cost_coefficients import Prices
from runtime.plan.estimate import Estimate, Work, graphlet_nodes, work_of
from runtime.plan.observations import Seen
from runtime.plan.operators.graphlet.eligibility import supports
from runtime.plan.physical_plan import PhysicalPlan, PlanDifference
from runtime.plan.planner import AUTO, Planned, choose, physical_plan_of, plan
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import Plan
from runtime.plan.statistics import Statistics

logger = logging.getLogger(__name__)

# To move a byte of state to another run, in nanoseconds.
MIGRATION = 2.0
# A plan is expected to last for as many events as there were since the last change, or more.
LEAST_AHEAD = 100_000
KEPT = 16  # of the last outcomes, and policies


@dataclass(frozen=True)
class Running:
    """The workload that runs, by which plan. `version` tells workloads apart."""

    queries: tuple[Query, ...]
    plan: Plan
    version: int = 0

    @cached_property
    def sharing(self) -> tuple[Query, ...]:
        """The queries that a plan is about."""
        return tuple(query for query in self.queries if supports(query))

    @cached_property
    def physical(self) -> PhysicalPlan:
        return physical_plan_of(self.queries, self.plan)

    @cached_property
    def chosen(self) -> str:
        """The planner that fits."""
        return choose(self.sharing)[0]


@dataclass(frozen=True)
class Guidance:
    """What engines are told: the newest policy, and the newest plan for a version of the workload.
    No plan: the one they have."""

    policy: Policy
    plan: Plan | None = None
    workload: int = 0
    model: ModelFacts = field(default_factory=ModelFacts)


@dataclass(frozen=True)
class Request:
    """All that planning needs, so that it can be done beside everything else. `why` is one of a
    few words, `reason` a sentence."""

    why: str
    reason: str
    running: Running
    planner: str
    statistics: Statistics
    prices: Prices

    def answer(self) -> Answer:
        """Takes a while."""
        found = plan(self.running.queries, self.planner, self.statistics, self.prices)
        estimate = Estimate(self.statistics, self.prices)
        before = estimate.plan(self.running.plan, self.running.sharing)
        return Answer(self, found, before, self.running.physical.difference(found.physical))


@dataclass(frozen=True)
class Answer:
    request: Request
    found: Planned
    before: float  #: what the plan that runs costs for an event, in nanoseconds
    difference: PlanDifference  #: from the physical plan that runs to the one that was found


class Central:
    """`planner` None: the plan was given, and stays. `model` learns the policy from bursts that
    were timed, and knows how good it is."""

    def __init__(self, running: Running, policy: Policy, planner: str | None = AUTO) -> None:
        self.model = Learner(policy)
        self.policy = policy
        self.replanned: deque[Replan] = deque(maxlen=KEPT)
        self._running = running
        self._planner = planner
        self._rates = Rates()
        self._pricing = Pricing(Prices())
        self._works: dict[tuple[str, ...], Work] = {}
        self._state_bytes: dict[str, int] = {}
        self._since_change = 0
        self._hasty = False
        self._counted: Counter[tuple[str, bool]] = Counter()
        # Engines begin with what was measured on the machine, as version 0; so does this.
        first = [replace(policy, version=0)] if policy.version == 1 else []
        self._policies = deque([*first, policy], maxlen=KEPT)

    # ---- what it hears ---------------------------------------------------------------------

    def changed(self, running: Running) -> None:
        """Queries came or went, and are planned for in haste; the whole is planned anew soon."""
        self._running = running
        self._works = {}
        self._hasty = True

    def hear(self, who: str, seen: Seen) -> None:
        """What an engine saw since it told the last time."""
        self._rates.hear(seen)
        self._state_bytes[who] = seen.state_bytes
        self._since_change += sum(seen.counts.values()) + seen.others
        try:
            self._learn(seen)
        except (RuntimeError, np.linalg.LinAlgError):
            # Least squares may find no solution: nothing is learned from this report.
            logger.warning("nothing was learned from a report", exc_info=True)

    def _learn(self, seen: Seen) -> None:
        better = self.model.learn(seen.samples)
        if better is not None:
            self.policy = replace(better, version=self.policy.version + 1)
            self._policies.append(self.policy)
        works = self._known_works()
        self._pricing.hear(
            Report(works[run.queries], run.batches / run.events, run.nanoseconds / run.events)
            for run in seen.runs
            if run.queries in works and run.events
        )

    def _known_works(self) -> Mapping[tuple[str, ...], Work]:
        """What the runs do for an event, by the mix of now; worked out once for each plan."""
        if not self._works:
            known = self._statistics()
            nodes = graphlet_nodes(self._running.plan, self._running.sharing)
            self._works = {node.names: work_of(node, known) for node in nodes}
        return self._works

    # ---- what it tells ---------------------------------------------------------------------

    @property
    def guidance(self) -> Guidance:
        running = self._running
        plan = running.plan if self._planner is not None else None
        return Guidance(self.policy, plan, running.version, self.facts)

    @property
    def facts(self) -> ModelFacts:
        model = self.model
        return ModelFacts(
            model.correlation,
            model.error,
            model.timed,
            model.predicted,
            model.measured,
            self.policy.version,
            self.plan.version,
            self._running.chosen if self._planner == AUTO else self._planner or "",
            model.kinds_correlation,
            dict(self._counted),
            tuple(self.replanned),
            tuple(self._policies),
        )

    @property
    def plan(self) -> Plan:
        return self._running.plan

    @property
    def prices(self) -> Prices:
        return self._pricing.prices

    def request(self) -> Request | None:
        """To plan the workload anew, if that is due."""
        due = self._due()
        if due is None or self._planner is None:
            return None
        return Request(*due, self._running, self._planner, self._statistics(), self.prices)

    def take(self, answer: Answer) -> Replan | None:
        """Changes the plan if operators change and that saves more than moving their state costs.
        None if the answer came too late: the workload is another one by now."""
        if answer.request.running is not self._running:
            return None
        found = answer.found
        saved = (answer.before - found.cost) * max(self._since_change, LEAST_AHEAD)
        costs = MIGRATION * sum(self._state_bytes.values())
        pays = bool(answer.difference) and saved > costs
        outcome = Replan(
            time.time(),
            answer.request.reason,
            found.planner,
            answer.before,
            found.cost,
            pays,
            str(answer.difference),
        )
        self.replanned.append(outcome)
        self._counted[answer.request.why, pays] += 1
        self._rates.planned(anew=pays)
        self._hasty = False
        self._works = {}
        if pays:
            self._migrate(found.plan)
        return outcome

    def failed(self) -> None:
        """Planning anew went wrong. It is not tried again before the stream changes once more."""
        self._counted["failed", False] += 1
        self._rates.planned(anew=False)
        self._hasty = False

    def _migrate(self, plan: Plan) -> None:
        version = self._running.plan.version + 1
        self._running = replace(self._running, plan=replace(plan, version=version))
        self._since_change = 0

    def _due(self) -> tuple[str, str] | None:
        if self._hasty:
            return "workload", "queries came or went"
        if self._rates.changed:
            changed = f"{self._rates.distance:.0%} of the events are of another type than before"
            return "rates", changed
        return None

    def _statistics(self) -> Statistics:
        types = sorted({type_ for query in self._running.queries for type_ in query.types})
        return self._rates.statistics.including(types)
