"""What the optimizer knows of itself, for Prometheus: how good its model is, and what it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import nan
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from runtime.errors import HamletError
from runtime.planning.central import Central

LOOPBACK = "127.0.0.1"


class Exported(Collector):
    """Serves on the loopback device. `central` can be another one later."""

    def __init__(self, central: Central, port: int) -> None:
        """`port` 0: any that is free."""
        self.central = central
        registry = CollectorRegistry()
        registry.register(self)
        try:
            self._server: Any = start_http_server(port, LOOPBACK, registry)[0]
        except OSError as error:
            raise HamletError(
                f"cannot serve metrics on port {port}: {error.strerror or error}",
                "choose another --metrics-port",
            ) from error

    @property
    def port(self) -> int:
        found: int = self._server.server_address[1]
        return found

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Called by whoever asks, in a thread of its own."""
        for figure in _FIGURES:
            found = figure.value(self.central)
            value = nan if found is None else float(found)
            yield figure.kind(f"hamlet_{figure.name}", figure.told, value)


class _Figure(NamedTuple):
    """A counter only grows, and its name ends with `_total`."""

    kind: type[GaugeMetricFamily] | type[CounterMetricFamily]
    name: str
    told: str
    value: Callable[[Central], float | None]


_FIGURES = (
    _Figure(
        GaugeMetricFamily,
        "model_correlation",
        "Correlation of the predicted and the measured time of bursts",
        lambda central: central.model.correlation,
    ),
    _Figure(
        GaugeMetricFamily,
        "model_error_ratio",
        "By what part of the measured time half of the predictions are off, at the most",
        lambda central: central.model.error,
    ),
    _Figure(
        GaugeMetricFamily,
        "policy_version",
        "Version of the newest policy",
        lambda central: central.policy.version,
    ),
    _Figure(
        GaugeMetricFamily,
        "plan_version",
        "Version of the newest plan",
        lambda central: central.plan.version,
    ),
    _Figure(
        CounterMetricFamily,
        "replans_total",
        "How often the workload was planned anew",
        lambda central: central.plannings,
    ),
    _Figure(
        CounterMetricFamily,
        "replans_migrated_total",
        "How often another plan came of it",
        lambda central: central.migrations,
    ),
)
