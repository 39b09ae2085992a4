"""The streams, one per file."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.generate.catalog import (
    cluster,
    patients,
    purchases,
    ridesharing,
    smarthome,
    stock,
    taxi,
    traffic,
)
from runtime.generate.stream import Stream

_MODULES = (ridesharing, stock, smarthome, taxi, cluster, patients, traffic, purchases)

CATALOG: Mapping[str, Stream] = {module.STREAM.name: module.STREAM for module in _MODULES}
