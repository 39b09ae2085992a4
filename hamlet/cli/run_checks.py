"""Checks that the options of `hamlet run` go together, and chooses those that were left out."""

from __future__ import annotations

import os
import re

from hamlet.cli.enums import EngineName, Numeric, OutputFormat, PlannerChoice, Sharing
from hamlet.cli.job_log import ADDRESS
from hamlet.cli.output_address import KAFKA, is_kafka
from hamlet.cli.run_flags import InputFlags, OutputFlags, RuntimeFlags, SharingFlags
from runtime.errors import HamletError, InputError
from runtime.types.name_bytes import is_utf8, with_bytes_escaped


def check_flags(
    input: InputFlags, output: OutputFlags, sharing: SharingFlags, runtime: RuntimeFlags
) -> None:
    _check_exact(sharing, output.numeric)
    _check_planner(sharing)
    if runtime.watch_workload and not input.follow:
        raise HamletError(
            "--watch-workload is for --follow: the queries of a bounded input cannot change",
            "leave out --watch-workload, or add --follow",
        )
    if output.format is OutputFormat.TABLE and output.output is not None:
        raise InputError("a table cannot be written to a file", "--format parquet, csv or json")
    if re.fullmatch(r"\d+[kmgt]?b?", runtime.spark_memory, re.IGNORECASE) is None:
        raise HamletError(f"--spark-memory is `{runtime.spark_memory}`", "write it as 512m or 2g")
    if runtime.name is not None and not is_utf8(runtime.name):
        raise HamletError(f"--name {with_bytes_escaped(runtime.name)} is not UTF-8")
    lateness = input.lateness_micros  # rejects an invalid duration
    if runtime.engine is EngineName.LOCAL:
        _check_local(input, lateness, output, runtime)


def _check_exact(sharing: SharingFlags, numeric: Numeric) -> None:
    given = {
        "--sharing": sharing.sharing,
        "--plan": sharing.plan,
        "--planner": sharing.planner,
        "--explain-sharing": sharing.explain_sharing or None,
    }
    for option, value in given.items():
        if value is not None and numeric is Numeric.EXACT:
            raise HamletError(
                f"{option} is for --numeric float: the exact engine evaluates every query by "
                "itself",
                f"leave out {option}, or --numeric exact",
            )


def _check_planner(sharing: SharingFlags) -> None:
    never = sharing.sharing is Sharing.NEVER
    for option, given in (("--plan", sharing.plan), ("--sharing never", never)):
        if given and sharing.planner is not None:
            raise HamletError(
                f"--planner and {option} exclude each other", f"leave out --planner, or {option}"
            )


def _check_local(
    input: InputFlags, lateness: int, output: OutputFlags, runtime: RuntimeFlags
) -> None:
    from_environment = runtime.address == os.environ.get(ADDRESS)
    given = {
        "--follow": input.follow,
        "--checkpoint": runtime.checkpoint,
        "--address": None if from_environment else runtime.address,
        "--lateness": lateness,
        "--kafka-options": input.kafka_options,
        "--spark-options": input.spark_options,
        "--avro-schema": input.avro_schema,
    }
    for option, value in given.items():
        if value:
            raise HamletError(
                f"{option} is for --engine ray: the local engine reads bounded inputs only",
                f"leave out {option}, or --engine local",
            )
    if is_kafka(output.output):
        raise HamletError(
            f"--output {KAFKA} is for --engine ray: the local engine writes to a folder",
            "leave out --engine local, or name a folder",
        )


def chosen_format(output: OutputFlags) -> OutputFormat:
    if output.format is not None:
        return output.format
    return OutputFormat.TABLE if output.output is None else OutputFormat.PARQUET


def chosen_planner(sharing: SharingFlags, numeric: Numeric) -> str | None:
    """None if a plan is given, or if nothing is shared."""
    never = sharing.sharing is Sharing.NEVER or numeric is Numeric.EXACT
    if sharing.plan is not None or never:
        return None
    return (sharing.planner or PlannerChoice.AUTO).value
