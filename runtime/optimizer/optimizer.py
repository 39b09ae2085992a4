"""The central optimizer: turns the observations of all engines into a sharing policy and a plan.

It does not depend on a cluster: an actor wraps it on Ray, and a run in one process has its own. No
engine waits for it; without it, engines keep the policy and the plan that they have.
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
from runtime.optimizer.coefficient_fit import CoefficientFitter, RunTiming
from runtime.optimizer.cost_fit import CostModelFitter
from runtime.optimizer.model_report import ModelMetrics, Replan
from runtime.optimizer.rate_tracker import RateTracker
from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.estimate import CostEstimate, OperatorWork, graphlet_nodes, work_of
from runtime.plan.observations import Observations
from runtime.plan.operators.graphlet.eligibility import supports
from runtime.plan.physical_plan import PhysicalPlan, PlanDifference
from runtime.plan.planner import AUTO, PlannerResult, choose_planner, physical_plan_of, plan
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan
from runtime.plan.statistics import Statistics

logger = logging.getLogger(__name__)

# Nanoseconds to move a byte of state to another operator.
MIGRATION = 2.0
# A plan is expected to last for as many events as the last one did, and at least for these.
LEAST_AHEAD = 100_000
KEPT = 16  # how many re-plans and policies are remembered


@dataclass(frozen=True)
class WorkloadSnapshot:
    """The queries that run, and their plan. `version` changes with the queries."""

    queries: tuple[Query, ...]
    plan: SharingPlan
    version: int = 0

    @cached_property
    def sharing(self) -> tuple[Query, ...]:
        """The queries that a plan can share."""
        return tuple(query for query in self.queries if supports(query))

    @cached_property
    def physical(self) -> PhysicalPlan:
        return physical_plan_of(self.queries, self.plan)

    @cached_property
    def chosen(self) -> str:
        """The planner that suits the workload."""
        return choose_planner(self.sharing)[0]


@dataclass(frozen=True)
class Guidance:
    """What engines should use: the newest policy, and the newest plan for a version of the
    workload. None as the plan: keep the current one."""

    policy: Policy
    plan: SharingPlan | None = None
    workload: int = 0
    model: ModelMetrics = field(default_factory=ModelMetrics)


@dataclass(frozen=True)
class ReplanRequest:
    """Everything that planning needs, so that it can run in another thread. `why` is a keyword,
    `reason` a sentence."""

    why: str
    reason: str
    running: WorkloadSnapshot
    planner: str
    statistics: Statistics
    coefficients: CostCoefficients

    def plan(self) -> ReplanResult:
        """Slow: runs the planner."""
        found = plan(self.running.queries, self.planner, self.statistics, self.coefficients)
        estimate = CostEstimate(self.statistics, self.coefficients)
        before = estimate.plan(self.running.plan, self.running.sharing)
        return ReplanResult(self, found, before, self.running.physical.difference(found.physical))


@dataclass(frozen=True)
class ReplanResult:
    request: ReplanRequest
    found: PlannerResult
    before: float  #: estimated cost of the current plan, in nanoseconds for an event
    difference: PlanDifference  #: from the physical plan that runs to the one that was found


class Optimizer:
    """With `planner` None the plan was given by the user, and stays. `model` fits the policy to
    timed bursts, and measures how well it predicts."""

    def __init__(
        self, running: WorkloadSnapshot, policy: Policy, planner: str | None = AUTO
    ) -> None:
        self.model = CostModelFitter(policy)
        self.policy = policy
        self.replanned: deque[Replan] = deque(maxlen=KEPT)
        self._running = running
        self._planner = planner
        self._rates = RateTracker()
        self._fitter = CoefficientFitter(CostCoefficients())
        self._works: dict[tuple[str, ...], OperatorWork] = {}
        self._state_bytes: dict[str, int] = {}
        self._since_change = 0
        self._hasty = False
        self._replans: Counter[tuple[str, bool]] = Counter()
        # Engines start with the calibrated policy as version 0; it is the same as version 1.
        first = [replace(policy, version=0)] if policy.version == 1 else []
        self._policies = deque([*first, policy], maxlen=KEPT)

    # ---- observations ----------------------------------------------------------------------

    def set_workload(self, running: WorkloadSnapshot) -> None:
        """Queries were added or removed. Their plan was made in haste, so a re-plan is due."""
        self._running = running
        self._works = {}
        self._hasty = True

    def observe(self, who: str, seen: Observations) -> None:
        """Takes in what an engine observed since its last report."""
        self._rates.observe(seen)
        self._state_bytes[who] = seen.state_bytes
        self._since_change += sum(seen.counts.values()) + seen.others
        try:
            self._learn(seen)
        except (RuntimeError, np.linalg.LinAlgError):
            # Least squares may find no solution.
            logger.warning("the cost model learned nothing from a report", exc_info=True)

    def _learn(self, seen: Observations) -> None:
        better = self.model.learn(seen.samples)
        if better is not None:
            self.policy = replace(better, version=self.policy.version + 1)
            self._policies.append(self.policy)
        works = self._known_works()
        self._fitter.observe(
            RunTiming(works[run.queries], run.batches / run.events, run.nanoseconds / run.events)
            for run in seen.operator_times
            if run.queries in works and run.events
        )

    def _known_works(self) -> Mapping[tuple[str, ...], OperatorWork]:
        """The work that each operator does for an event, for the current mix of types. Computed
        once for each plan."""
        if not self._works:
            known = self._statistics()
            nodes = graphlet_nodes(self._running.plan, self._running.sharing)
            self._works = {node.names: work_of(node, known) for node in nodes}
        return self._works

    # ---- decisions -------------------------------------------------------------------------

    @property
    def guidance(self) -> Guidance:
        running = self._running
        plan = running.plan if self._planner is not None else None
        return Guidance(self.policy, plan, running.version, self.metrics)

    @property
    def metrics(self) -> ModelMetrics:
        model = self.model
        return ModelMetrics(
            model.correlation,
            model.error,
            model.timed,
            model.predicted,
            model.measured,
            self.policy.version,
            self.plan.version,
            self._running.chosen if self._planner == AUTO else self._planner or "",
            model.kinds_correlation,
            dict(self._replans),
            tuple(self.replanned),
            tuple(self._policies),
        )

    @property
    def plan(self) -> SharingPlan:
        return self._running.plan

    @property
    def coefficients(self) -> CostCoefficients:
        return self._fitter.coefficients

    def request(self) -> ReplanRequest | None:
        """A request to re-plan the workload, if that is due."""
        due = self._due()
        if due is None or self._planner is None:
            return None
        return ReplanRequest(
            *due, self._running, self._planner, self._statistics(), self.coefficients
        )

    def apply(self, result: ReplanResult) -> Replan | None:
        """Changes the plan if operators change and that saves more than moving their state costs.
        None if the result came too late: the workload has changed since."""
        if result.request.running is not self._running:
            return None
        found = result.found
        saved = (result.before - found.cost) * max(self._since_change, LEAST_AHEAD)
        costs = MIGRATION * sum(self._state_bytes.values())
        pays = bool(result.difference) and saved > costs
        outcome = Replan(
            time.time(),
            result.request.reason,
            found.planner,
            result.before,
            found.cost,
            pays,
            str(result.difference),
        )
        self.replanned.append(outcome)
        self._replans[result.request.why, pays] += 1
        self._rates.mark_planned(changed=pays)
        self._hasty = False
        self._works = {}
        if pays:
            self._migrate(found.plan)
        return outcome

    def record_failure(self) -> None:
        """A re-plan failed. The next one is due when the stream changes again."""
        self._replans["failed", False] += 1
        self._rates.mark_planned(changed=False)
        self._hasty = False

    def _migrate(self, plan: SharingPlan) -> None:
        version = self._running.plan.version + 1
        self._running = replace(self._running, plan=replace(plan, version=version))
        self._since_change = 0

    def _due(self) -> tuple[str, str] | None:
        if self._hasty:
            return "workload", "queries were added or removed"
        if self._rates.changed:
            changed = f"{self._rates.distance:.0%} of the events have another type than before"
            return "rates", changed
        return None

    def _statistics(self) -> Statistics:
        types = sorted({type_ for query in self._running.queries for type_ in query.types})
        return self._rates.statistics.with_types(types)
