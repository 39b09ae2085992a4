"""Room for a job on a given cluster. Workers join after the head, and on Kubernetes only when their
node has pulled the image: a job that began at once would put on the head what belongs on workers.

The room is asked for as a placement group, which is taken back as soon as it is there. Ray finds it
as it finds room for actors, node by node and among what other jobs have left, and an autoscaler
sees it as it sees actors that wait: cores that nobody waits for would never come.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import ray
from ray.util.placement_group import placement_group, remove_placement_group

from runtime.errors import HamletError

#: What one actor asks for, as Ray names it.
Bundle = Mapping[str, float]

# A node is there, and has pulled an image of gigabytes, within a few minutes.
LIMIT_S = 600.0
_STEP_S = 1


@dataclass(frozen=True)
class ResourceRequest:
    """Actors that must all have room at once. `told` says in words what they are."""

    bundles: Sequence[Bundle]
    told: str

    @property
    def cores(self) -> float:
        return sum(each.get("CPU", 0) for each in self.bundles)


def wait_for_resources(
    wanted: ResourceRequest, say: Callable[[str], None], limit_s: float = LIMIT_S
) -> None:
    """Returns at once where there is room. `say` hears what is waited for and what there is, when
    that changes."""
    asks = f"{wanted.cores:g} free cores ({wanted.told})"
    group = placement_group([dict(each) for each in wanted.bundles])
    try:
        until, before = time.monotonic() + limit_s, ""
        while not group.wait(_STEP_S):
            there = _there()
            if time.monotonic() > until:
                raise HamletError(
                    f"the cluster has no room for the job: within {limit_s:g} s it had not the "
                    f"{asks} that the job asks for, but {there}",
                    "add workers, or ask for less with --actors, --spark-executors, --spark-cores "
                    "and --spark-memory; the cores of an executor must be on one node",
                )
            if there != before:
                say(f"waiting for {asks}; the cluster has {there}")
                before = there
    finally:
        remove_placement_group(group)


def _there() -> str:
    total, free = ray.cluster_resources(), ray.available_resources()
    cores = f"{free.get('CPU', 0):g} of {total.get('CPU', 0):g} cores"
    # In whole gigabytes: it changes all the time.
    return f"{cores} and {free.get('memory', 0) / 1e9:.0f} GB free"
