"""Manifests for tests of the commit protocol."""

from collections import Counter
from typing import Any

import pyarrow as pa

from runtime.language.parser import parse
from runtime.pipeline.manifest import Manifest, RunCounts
from runtime.pipeline.routing_table import InputFormat

WORKLOAD = parse("RETURN COUNT(*) PATTERN A WITHIN 1 minute")
COLUMNS = pa.schema([("time", pa.int64()), ("type", pa.string())])


def manifest_of(epoch: int, **fields: Any) -> Manifest:
    given: dict[str, Any] = {
        "job": "job",
        "source": "input",
        "position": {"at": epoch},
        "watermark": epoch,
        "newest": epoch,
        "clocks": {},
        "workload": WORKLOAD,
        "since": {},
        "given": {},
        "input_format": InputFormat(columns=COLUMNS),
        "settings": {"numeric": "float", "ties": "strict"},
        "shards": 1,
        "units": {},
        "counts": RunCounts(dead=Counter()),
    }
    return Manifest(epoch=epoch, **{**given, **fields})


def numbers(*values: int) -> pa.Table:
    return pa.table({"n": pa.array(values, pa.int64())})
