"""What sharing saves on Ray: CPU time of aggregators with each setting of `--sharing`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks import _pipeline as pipeline
from benchmarks._cpu_time import WITH_OPTIMIZER, cpu_time
from runtime.pipeline.settings import Settings

#: As `hamlet run` sets them: without sharing there is nothing to plan.
MODES = {
    "dynamic": Settings(sharing="dynamic", planner="auto"),
    "always": Settings(sharing="always", planner="auto"),
    "never": Settings(sharing="never"),
}


def measure(
    job: pipeline.Job, data: pipeline.Input, scratch: Path, repeats: int
) -> dict[str, float]:
    """The least CPU time of each mode. They take turns, after a turn that compiles kernels. The
    optimizer works in all of them, and renews the policy and the plan only where it may."""
    spent: dict[str, list[dict[str, float]]] = {mode: [] for mode in MODES}
    for turn in range(repeats + 1):
        for mode, settings in MODES.items():
            work = partial(job.run, data.folder, data.workload, scratch / "job", settings=settings)
            _, cpu = cpu_time(work, WITH_OPTIMIZER)
            if turn:
                spent[mode].append(cpu)
    least = {mode: min(each["aggregators"] for each in turns) for mode, turns in spent.items()}
    optimizer = min(each["optimizer"] for each in spent["dynamic"])
    return {
        "aggregator_cpu_dynamic_over_never": least["dynamic"] / least["never"],
        "aggregator_cpu_dynamic_over_always": least["dynamic"] / least["always"],
        **{f"aggregator_cpu_seconds_{mode}": seconds for mode, seconds in least.items()},
        "optimizer_cpu_seconds_dynamic": optimizer,
    }
