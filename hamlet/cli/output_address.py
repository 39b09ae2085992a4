"""Where `--output` writes to: a folder or a Kafka topic."""

from __future__ import annotations

from pathlib import Path

KAFKA = "kafka:"


def is_kafka(output: str | None) -> bool:
    return output is not None and output.startswith(KAFKA)


def output_path(output: str | None) -> Path | None:
    """The folder of the results; None if they go elsewhere."""
    return None if output is None or is_kafka(output) else Path(output)
