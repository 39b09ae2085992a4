"""What an input needs of the Spark session that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_ingest.jars import Jar


@dataclass(frozen=True)
class SparkNeeds:
    """The jars and the settings with which the session must start. Settings are visible in the
    list of processes: no secrets."""

    jars: tuple[Jar, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
