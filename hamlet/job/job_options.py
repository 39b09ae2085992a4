"""How a job runs: its name, its cluster, its checkpoint, its sizes and its settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from runtime.metrics.http_server import LOOPBACK
from runtime.metrics.snapshot import MetricsListener
from runtime.pipeline.settings import Settings
from spark_ingest.session import SparkSize


@dataclass(frozen=True)
class JobOptions:
    name: str = "hamlet"  #: other commands find the job by it
    address: str | None = None  #: of a running Ray cluster; None: start one for this job
    actors: int = 2
    checkpoint: str | None = None
    lateness: int = 0  #: in microseconds
    blocks: bool = True
    metrics_port: int | None = None  #: None: no live page, or on any free port for a followed input
    metrics_host: str = LOOPBACK
    watch: Path | None = None  #: a query file that the job's queries follow while it runs
    listeners: tuple[MetricsListener, ...] = ()  #: further listeners of metrics
    log: Path | None = None  #: the folder for the log of the run, from which a report is made
    size: SparkSize = field(default_factory=SparkSize)
    settings: Settings = field(default_factory=Settings)
