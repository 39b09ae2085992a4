"""Starts a Ray cluster for a job, or connects to one and waits until it has the resources."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import ray

from actors import cluster as clusters
from actors.actor_pool import A_CORE
from actors.placement import ResourceRequest, wait_for_resources
from hamlet.job.job_options import JobOptions
from runtime.errors import HamletError
from spark_ingest import session


def start_cluster(
    stack: ExitStack,
    options: JobOptions,
    beside: Callable[[clusters.Cluster], None] | None,
    stage: Callable[[str], None],
    say: Callable[[str], None],
) -> clusters.Cluster:
    """`beside` is called before Ray starts, with what can start at the same time. Without it, the
    input is a frame of the user, who has Spark already, and perhaps Ray."""
    if beside is None:
        return _beside_frames(stack, options, stage, say)
    environment = session.environment(embedded=options.address is None)
    if options.address is None:
        stage("starting Ray, and the driver of Spark")
        return stack.enter_context(clusters.start(environment, say=say, beside=beside))
    stage("connecting to Ray")
    cluster = stack.enter_context(clusters.connect(options.address, environment))
    _check_shared(options, cluster)
    stage("waiting for cluster resources")
    wait_for_resources(_needed_room(options), say)
    _check_shared(options, cluster)  # nodes may have joined meanwhile
    return cluster


def _beside_frames(
    stack: ExitStack,
    options: JobOptions,
    stage: Callable[[str], None],
    say: Callable[[str], None],
) -> clusters.Cluster:
    """The Ray that this process uses, or else an embedded one for the aggregators."""
    if not ray.is_initialized():
        stage("starting Ray")
        return stack.enter_context(clusters.start(say=say, talkative=clusters.LIBRARIES))
    cluster = stack.enter_context(clusters.attach())
    _check_shared(options, cluster)
    stage("waiting for cluster resources")
    actors = options.actors
    wait_for_resources(ResourceRequest([A_CORE] * actors, f"{actors} for actors={actors}"), say)
    return cluster


def _check_shared(options: JobOptions, cluster: clusters.Cluster) -> None:
    if options.checkpoint is None and cluster.nodes > 1:
        raise HamletError(
            "a job on several machines needs a checkpoint that all of them can reach",
            "name a shared folder or an object store with --checkpoint",
        )


def _needed_room(options: JobOptions) -> ResourceRequest:
    """Everything that asks for cores. What asks for none fits where these fit."""
    actors, size = options.actors, options.size
    purpose = f"{actors} for --actors, {size.cores} with {size.memory} for each executor of Spark"
    return ResourceRequest([A_CORE] * actors + [size.of_an_executor()] * size.executors, purpose)
