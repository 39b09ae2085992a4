"""Waits until an existing cluster has the resources for a job.

Workers join after the head, on Kubernetes only when their node has pulled the image. A job that
started at once would place on the head what belongs on workers.

The resources are requested as a placement group, which is released as soon as it is ready. Ray
places it like actors, and an autoscaler adds nodes for it: without a request none would come.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import ray
from ray.util.placement_group import placement_group, remove_placement_group

from runtime.errors import EnvironmentFailure

#: The resources of one actor, by Ray's names.
Bundle = Mapping[str, float]

# A node joins, and pulls an image of gigabytes, within a few minutes.
LIMIT_S = 600.0
_STEP_S = 1


@dataclass(frozen=True)
class ResourceRequest:
    """The resources of actors that must all run at once. Messages show the `description`."""

    bundles: Sequence[Bundle]
    description: str

    @property
    def cores(self) -> float:
        return sum(each.get("CPU", 0) for each in self.bundles)


def wait_for_resources(
    request: ResourceRequest, say: Callable[[str], None], limit_s: float = LIMIT_S
) -> None:
    """Returns once the resources are free. Calls `say` with the request and the free resources when
    those change."""
    needed = f"{request.cores:g} free cores ({request.description})"
    group = placement_group([dict(each) for each in request.bundles])
    try:
        until, before = time.monotonic() + limit_s, ""
        while not group.wait(_STEP_S):
            free = _free_resources()
            if time.monotonic() > until:
                raise EnvironmentFailure(
                    f"the cluster has too few resources: the job needs {needed}, but after "
                    f"{limit_s:g} s there are {free}",
                    "add workers, or request less with --actors, --spark-executors, --spark-cores "
                    "and --spark-memory; the cores of an executor must be on one node",
                )
            if free != before:
                say(f"waiting for {needed}; the cluster has {free}")
                before = free
    finally:
        remove_placement_group(group)


def _free_resources() -> str:
    total, free = ray.cluster_resources(), ray.available_resources()
    cores = f"{free.get('CPU', 0):g} of {total.get('CPU', 0):g} cores"
    # In whole gigabytes: it changes constantly.
    return f"{cores} and {free.get('memory', 0) / 1e9:.0f} GB free"
