"""The interface of inputs of a job: what the user says of one, and how it is checked and opened."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from runtime.io.reader import ReadRequest
from spark_ingest.sources.source import Position, StreamSource
from spark_ingest.spark_needs import SparkNeeds


@dataclass(frozen=True)
class InputOptions:
    """How the user describes the input."""

    text: str  #: as given with `--input`
    needs: ReadRequest
    follow: bool = False
    format: str | None = None
    unit: str | None = None  #: of times that are integers
    kafka_options: Path | None = None
    spark_options: Path | None = None  #: options of Spark's source that may be secrets
    avro: Path | None = None
    avro_framed: bool = False  #: values begin with the five bytes of Confluent's serializers
    follow_links: bool = False  #: follow links in a folder to wherever they lead
    unpack: bool = True  #: compressed files that are larger than an epoch
    wait: Callable[[str], None] = lambda what: None  #: called with what the job waits for
    warn: Callable[[str], None] = lambda what: None


class ResolvedInput(ABC):
    #: What the Spark session needs to read it.
    spark_needs: SparkNeeds = SparkNeeds()
    #: The user's session, if the input is a frame of it. Else the job starts one.
    session: SparkSession | None = None
    #: The claim of the run, which is in the files that it writes.
    owner: str = ""

    def __init__(self, options: InputOptions) -> None:
        self.options = options

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the source, by which a checkpoint knows it."""

    def check_resumable(self, finished: bool) -> None:  # noqa: B027
        """Raises if the input cannot be read from where an earlier run stopped. One that is
        `finished` reads nothing any more."""

    def check_checkpoint(self, checkpoint: str | None) -> None:  # noqa: B027
        """Raises if the input cannot be followed with a checkpoint in this place."""

    def check_explainable(self) -> None:  # noqa: B027
        """Raises if the input cannot be looked at without taking rows from a job."""

    def probe_schema(self, folder: Path) -> pa.Schema | None:
        """The columns, if they are known without Spark. `folder` is for temporary files."""
        return None

    @abstractmethod
    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        """`schema` and position `at` come from an earlier run; `folder` is kept for the next."""
