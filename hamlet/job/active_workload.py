"""The queries that a job runs and the plan by which they share, as of the next epoch."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from actors.actor_pool import cause, is_crash
from actors.rehearsal import PendingRehearsal
from hamlet.job.job_context import JobContext, StartPoint
from hamlet.job.workload_changes import WorkloadChanges
from runtime.errors import EnvironmentFailure, HamletError
from runtime.optimizer.optimizer import WorkloadSnapshot
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.rehearsal import Rehearsal
from runtime.pipeline.settings import Settings
from runtime.plan.planner import extend_plan
from runtime.plan.planner import plan as planned
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkloadUpdate:
    """What aggregators must hear of with the next epoch; None for what stays as it is."""

    change: WorkloadChange | None = None
    policy: Policy | None = None
    plan: SharingPlan | None = None


class ActiveWorkload:
    """Collects what changes between two epochs: queries that users add and remove, and the
    optimizer's policies and plans.

    A change of a followed stream waits until its kernels are compiled; the stream does not. One
    change is made at a time, and answered when its epoch is committed."""

    def __init__(
        self, context: JobContext, start: StartPoint, changes: WorkloadChanges | None
    ) -> None:
        self._context = context
        self.bound_workload = start.bound_workload
        self.since = dict(start.manifest.since) if start.manifest else {}
        self.plan = _first_plan(start, context.settings)
        self._policy: Policy | None = None
        self._changes = changes
        self._start_change = start.change
        self._rehearsing: tuple[WorkloadChange, PendingRehearsal] | None = None
        self._rehearsing_plan: tuple[SharingPlan, PendingRehearsal] | None = None
        self._rejected_plan = 0  #: the version of a plan whose rehearsal failed
        self._uncommitted: tuple[WorkloadChange, int] | None = None  #: with its epoch
        self._unsent_change: WorkloadChange | None = None
        self._unsent_plan: SharingPlan | None = None
        context.recorder.record_plan(self.bound_workload, self.plan)

    @property
    def has_change(self) -> bool:
        """Whether aggregators have yet to hear of a change of queries."""
        return self._unsent_change is not None

    def snapshot(self) -> WorkloadSnapshot:
        return WorkloadSnapshot(
            self.bound_workload.workload.queries,
            self.plan or SharingPlan(),
            self.bound_workload.version,
        )

    # ---- queries come and go ---------------------------------------------------------------

    def poll_changes(self, newest: int | None, epoch: int) -> None:
        """Rehearses the next requested change, and applies it once that is done. `newest` is the
        largest time seen so far, `epoch` the next epoch."""
        if self._start_change is not None:
            self._apply(self._start_change, newest)
            self._start_change = None
        if self._changes is None or self.has_change or self._uncommitted is not None:
            return
        if self._rehearsing is None:
            wanted = self._changes.next(self.bound_workload)
            if wanted is not None:
                self._drop_plan()
                self._rehearsing = wanted, self._rehearse(wanted, self._plan_after(wanted))
        elif self._rehearsing[1].is_done():
            (change, rehearsal), self._rehearsing = self._rehearsing, None
            reason = _failure(rehearsal)
            if reason is None:
                self._uncommitted = self._apply(change, newest), epoch
            else:
                self._changes.refused(change, reason)

    def committed(self, epoch: int) -> None:
        """Answers who asked for the change that this epoch made."""
        if self._uncommitted is not None and self._uncommitted[1] <= epoch:
            assert self._changes is not None
            self._changes.committed(*self._uncommitted)
            self._uncommitted = None

    def _rehearse(
        self, change: WorkloadChange | None, plan: SharingPlan | None
    ) -> PendingRehearsal:
        context, bound_workload = self._context, self.bound_workload
        settings = replace(context.settings, plan=self.plan)
        return context.pool.rehearse(
            Rehearsal(settings, bound_workload.input_format, bound_workload.workload, change, plan)
        )

    def _apply(self, change: WorkloadChange, newest: int | None) -> WorkloadChange:
        """Rows are read and routed for the changed workload from the next epoch on, and
        aggregators hear of the change with that epoch. Queries that join count from after every
        event seen so far."""
        pool, recorder = self._context.pool, self._context.recorder
        since = None if newest is None else newest + 1
        self._unsent_change = replace(change, since=since)
        plan = self._plan_after(change)
        self.bound_workload = self.bound_workload.with_changes(change.added, change.removed)
        recorder.running(self.bound_workload)
        if plan is not None:
            self.plan = self._unsent_plan = plan
            pool.change_workload(self.snapshot())
        recorder.record_plan(self.bound_workload, self.plan)
        for name in change.removed:
            self.since.pop(name, None)
        if since is not None:
            self.since |= {query.name: since for query in change.added}
        pool.set_routing(self._context.routing(self.bound_workload))
        return self._unsent_change

    def _plan_after(self, change: WorkloadChange) -> SharingPlan | None:
        """The plan without the removed queries, and with the added ones planned by themselves."""
        found, planner = self.plan, self._context.settings.planner
        if found is None or planner is None:
            return None
        for name in change.removed:
            found = found.without(name)
        after = self.bound_workload.with_changes(change.added, change.removed)
        found = extend_plan(found, after.workload.queries, change.added, planner)
        return replace(found, version=found.version + 1)

    # ---- for the next epoch ----------------------------------------------------------------

    def take_update(self) -> WorkloadUpdate:
        """What has changed since the last call, with the optimizer's newest guidance."""
        policy = self._poll_guidance()
        new_policy = policy if policy != self._policy else None
        if new_policy is not None:
            self._policy = new_policy
        update = WorkloadUpdate(self._unsent_change, new_policy, self._unsent_plan)
        self._unsent_change = self._unsent_plan = None
        return update

    def _poll_guidance(self) -> Policy | None:
        """The optimizer's policy, if it has one, and perhaps another plan. A plan that was made for
        another workload comes too late and is dropped."""
        context = self._context
        if context.settings.numeric != "float":
            return None
        guidance = context.pool.guidance()
        if guidance is None:
            return self._policy
        context.recorder.set_model(guidance.model)
        plan, current = guidance.plan, self.plan or SharingPlan()
        fits = guidance.workload == self.bound_workload.version
        if plan is not None and fits and plan.version > current.version and self._is_ready(plan):
            self.plan = self._unsent_plan = plan
            context.recorder.record_plan(self.bound_workload, plan)
            context.pool.set_restart_workload(self.snapshot())
        return guidance.policy

    def _is_ready(self, plan: SharingPlan) -> bool:
        """Whether the kernels of the plan are compiled. Only a followed stream waits for that."""
        if self._changes is None:
            return True
        if self._rehearsing is not None or plan.version == self._rejected_plan:
            return False
        if self._rehearsing_plan is None or self._rehearsing_plan[0] != plan:
            self._drop_plan()
            self._rehearsing_plan = plan, self._rehearse(None, plan)
            return False
        rehearsal = self._rehearsing_plan[1]
        if not rehearsal.is_done():
            return False
        self._rehearsing_plan = None
        failure = _failure(rehearsal)
        if failure is not None:
            self._rejected_plan = plan.version
            logger.warning("plan %s is not used: %s", plan.version, failure)
        return failure is None

    def _drop_plan(self) -> None:
        """A plan that is being rehearsed is for another workload, or there is a newer one."""
        if self._rehearsing_plan is not None:
            self._rehearsing_plan[1].cancel()
            self._rehearsing_plan = None


def _failure(rehearsal: PendingRehearsal) -> HamletError | None:
    try:
        rehearsal.result()
    except Exception as error:
        reason = cause(error)
        if isinstance(reason, HamletError):
            return reason
        said = str(reason).strip().splitlines() or [type(reason).__name__]
        kind = EnvironmentFailure if is_crash(reason) else HamletError
        return kind(f"its rehearsal failed: {said[0]}", "the job is unchanged; try again")
    return None


def _first_plan(start: StartPoint, settings: Settings) -> SharingPlan | None:
    if settings.planner is None or settings.numeric != "float":
        return settings.plan
    return planned(start.bound_workload.workload, settings.planner).plan
