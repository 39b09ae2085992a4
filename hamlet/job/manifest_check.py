"""Compares what a run is given with the manifest that it resumes from."""

from __future__ import annotations

import pyarrow as pa

from hamlet.job.job_options import JobOptions
from hamlet.job.resolved_input import InputOptions
from runtime.errors import HamletError
from runtime.execution import state_file
from runtime.language.query import Workload
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.manifest import Manifest


def check_options(manifest: Manifest, options: JobOptions, input: InputOptions) -> None:
    """Refuses options that would change the meaning of the saved state."""
    settings, needs = options.settings, input.needs
    for option, before, now in (
        ("--numeric", manifest.settings["numeric"], settings.numeric),
        ("--ties", manifest.settings["ties"], settings.ties),
        ("--time-column", manifest.input_format.time_column, needs.time_column),
        ("--type-column", manifest.input_format.type_column, needs.type_column),
        ("--time-unit", manifest.input_format.time_unit, input.unit),
    ):
        check_equal(option, before, now)
    if options.actors > manifest.shards:
        raise HamletError(
            f"the checkpoint has {manifest.shards} shards, too few for --actors {options.actors}",
            f"use at most --actors {manifest.shards}, or start over with a new --checkpoint folder",
        )


def check_equal(option: str, before: object, now: object) -> None:
    if before != now:
        raise HamletError(
            f"the checkpoint was made with {option} {before}, but this run has {now}",
            "use the same option, or start over with a new --checkpoint folder",
        )


def workload_change(
    manifest: Manifest, workload: Workload, options: JobOptions
) -> WorkloadChange | None:
    """How the queries given now differ from those given then. Queries that came or went while the
    job ran do not count. None if the query file is watched: the watcher finds the difference."""
    if options.watch is not None:
        return None
    before, wanted = manifest.given, fingerprints(workload)
    for name, fingerprint in wanted.items():
        if before.get(name, fingerprint) != fingerprint:
            raise HamletError(
                f"`{name}` is not the query of the checkpoint",
                "give the changed query a new name; it then starts with the next event",
            )
    running = fingerprints(manifest.workload)
    for name in wanted.keys() - before.keys():
        if running.get(name, wanted[name]) != wanted[name]:
            raise HamletError(f"another query called `{name}` was added while the job ran")
    added = tuple(q for q in workload if q.name not in before and q.name not in running)
    removed = tuple(name for name in before if name not in wanted and name in running)
    return WorkloadChange(added, removed) if added or removed else None


def merged_schema(manifest: Manifest | None, found: pa.Schema | None) -> pa.Schema | None:
    """The columns of the earlier run, then those that the input has besides by now."""
    if manifest is None or found is None:
        return found if manifest is None else manifest.input_format.columns
    known = manifest.input_format.columns
    return pa.schema([*known, *(each for each in found if each.name not in known.names)])


def fingerprints(workload: Workload) -> dict[str, str]:
    return {query.name: state_file.fingerprint(query) for query in workload}
