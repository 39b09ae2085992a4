"""Opens what a job reports to: the live page, the log of the run, traces."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from actors.hub import MetricsHub
from hamlet.job import tracing
from hamlet.job.job_options import JobOptions
from hamlet.job.metrics_recorder import JobMetrics
from hamlet.job.tracing import Tracing
from runtime.metrics.snapshot import MetricsListener
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.report.run_log import RunLog


@dataclass(frozen=True)
class JobMonitoring:
    recorder: JobMetrics
    hub: MetricsHub | None  #: serves the live page

    @property
    def url(self) -> str:
        return "" if self.hub is None else self.hub.url


def open_monitoring(
    stack: ExitStack,
    options: JobOptions,
    bound_workload: BoundWorkload,
    *,
    follow: bool,
    resumed: bool,
    warn: Callable[[str], None],
) -> JobMonitoring:
    """`follow`: the input has no end; `resumed`: the job resumes from a checkpoint."""
    hub = _open_hub(stack, options, follow)
    log = _open_log(options, follow, resumed, warn)
    listeners: list[MetricsListener] = list(options.listeners)
    if hub is not None:
        listeners.append(hub)
    if log is not None:
        stack.callback(log.close)
        listeners.append(log)
    recorder = JobMetrics(
        options.name, bound_workload, listeners, _open_tracing(stack, options.name)
    )
    return JobMonitoring(recorder, hub)


def _open_hub(stack: ExitStack, options: JobOptions, follow: bool) -> MetricsHub | None:
    """A followed job always has a live page; others have one on request."""
    if options.metrics_port is None and not follow:
        return None
    hub = MetricsHub(options.metrics_port or 0, options.metrics_host)
    stack.callback(hub.close)
    return hub


def _open_log(
    options: JobOptions, follow: bool, resumed: bool, warn: Callable[[str], None]
) -> RunLog | None:
    """The log of a job that can be resumed is visible from the start, and is resumed with it."""
    if options.log is None:
        return None
    lasting = follow or options.checkpoint is not None
    return RunLog(options.log, warn, lasting, goes_on=resumed)


def _open_tracing(stack: ExitStack, job: str) -> Tracing | None:
    if not tracing.is_wanted():
        return None
    found = Tracing(job)
    stack.callback(found.close)
    return found
