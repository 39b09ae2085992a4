"""Runs `hamlet` as a user does, in processes of its own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks import _pipeline as pipeline
from runtime.report.run_log import NAME

CHECKOUT = Path(__file__).parents[1]
HAMLET = (sys.executable, "-c", "from hamlet.cli import main; main()")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CHECKOUT)}


def written_queries(data: pipeline.Input, folder: Path) -> Path:
    path = folder / "queries.sase"
    path.write_text(data.workload.source.text)
    return path


def first_record(output: Path) -> dict[str, Any]:
    """Of the log that a run writes, the record of its first epoch with rows. `began` is when
    reading began, `time` when the epoch was committed."""
    for line in (output / NAME).read_text().splitlines():
        record: dict[str, Any] = json.loads(line)
        if record["rows"]:
            return record
    raise RuntimeError(f"the run of {output} has read nothing")
