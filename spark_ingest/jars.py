"""Downloads and caches the Java archives that are not part of Spark.

They are pinned by version and by the digest of their content, so that the tested archive runs,
whatever a registry or a proxy returns.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from runtime.cache_dir import cache_of
from runtime.errors import EnvironmentFailure

REGISTRY = "https://repo1.maven.org/maven2"
TIMEOUT = 60.0


@dataclass(frozen=True)
class Jar:
    """An archive by its Maven coordinates (`group:artifact:version`)."""

    coordinates: str
    sha256: str

    @property
    def name(self) -> str:
        _, artifact, version = self.coordinates.split(":")
        return f"{artifact}-{version}.jar"

    @property
    def url(self) -> str:
        group, artifact, version = self.coordinates.split(":")
        registry = os.environ.get("HAMLET_MAVEN", REGISTRY).rstrip("/")
        return f"{registry}/{group.replace('.', '/')}/{artifact}/{version}/{self.name}"


# Their other dependencies come with Spark.
KAFKA = (
    Jar(
        "org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.7",
        "184f8bd4a3cd22299c49090d88b894f81fd7546b4ee64879519a0d76a685dbb8",
    ),
    Jar(
        "org.apache.spark:spark-token-provider-kafka-0-10_2.12:3.5.7",
        "9701914db5c6d09628b58d2d2c1ccd2c9ea28f32f83dd6cb21f98b8237531ff4",
    ),
    Jar(
        "org.apache.kafka:kafka-clients:3.4.1",
        "9d0a9058c8ede79db6e54ae378ed16fe8d1bead2894635a4aa6aa0b7981668c6",
    ),
    Jar(
        "org.apache.commons:commons-pool2:2.11.1",
        "ea0505ee7515e58b1ac0e686e4d1a5d9f7d808e251a61bc371aa0595b9963f83",
    ),
)
AVRO = (
    Jar(
        "org.apache.spark:spark-avro_2.12:3.5.7",
        "b0660bc224cbd1eb3ae144001c1328863060e64f1834dd7bbadc1ddbf09d2b15",
    ),
)

# What Delta's other archives do comes with Spark.
DELTA = (
    Jar(
        "io.delta:delta-spark_2.12:3.3.2",
        "4e92085d5d794cf949c50bb665b91384857cad58680c2d0bfc9c7ad353e98e85",
    ),
    Jar(
        "io.delta:delta-storage:3.3.2",
        "c096975a2ca97ccc9b4005aa5cce16c9ac3903139d340da6665b66ace67d7c36",
    ),
)


KAFKA_SOURCE = (*KAFKA, *AVRO)  #: with values in JSON or Avro


def kafka_jars() -> list[Path]:
    """The archives of the Kafka source, for the class path."""
    return fetched(KAFKA_SOURCE)


def listed(path: Path) -> list[Jar]:
    """Reads a file of coordinates and digests, one archive per line."""
    return [Jar(*line.split()) for line in path.read_text(encoding="utf-8").splitlines()]


def fetched(jars: Iterable[Jar], folder: Path | None = None) -> list[Path]:
    """The archives as files; downloads those that are not in the folder yet."""
    where = cache_of("jars") if folder is None else folder
    return [_kept(jar, where) or _fetch(jar, where) for jar in jars]


def _kept(jar: Jar, folder: Path) -> Path | None:
    # Verified each time: Java would run whatever is there.
    path = folder / jar.name
    return path if path.is_file() and _digest(path.read_bytes()) == jar.sha256 else None


def _fetch(jar: Jar, folder: Path) -> Path:
    content = _download(jar)
    found = _digest(content)
    if found != jar.sha256:
        raise EnvironmentFailure(
            f"{jar.url} has changed: its SHA-256 is {found}, not {jar.sha256}",
            "a proxy may have sent something else; nothing was kept",
        )
    path = folder / jar.name
    handle, waiting = tempfile.mkstemp(dir=folder, prefix=f".{jar.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(waiting, 0o644)
        os.replace(waiting, path)  # others may fetch it at the same time
    except BaseException:
        os.unlink(waiting)
        raise
    return path


def _download(jar: Jar) -> bytes:
    try:
        with urllib.request.urlopen(jar.url, timeout=TIMEOUT) as answer:
            return bytes(answer.read())
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise EnvironmentFailure(
            f"cannot fetch {jar.url}: {reason}",
            f"put {jar.name} into {cache_of('jars')}, or name a mirror of Maven Central "
            "with HAMLET_MAVEN",
        ) from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
