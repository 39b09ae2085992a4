"""What the optimizer knows of itself, for Prometheus: how good its model is, and what it did."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

from prometheus_client import CollectorRegistry, Gauge, start_http_server

from runtime.errors import HamletError
from runtime.planning.central import Central

LOOPBACK = "127.0.0.1"


class Exported:
    """Serves on the loopback device. `central` can be another one later."""

    def __init__(self, central: Central, port: int) -> None:
        """`port` 0: any that is free."""
        self.central = central
        registry = CollectorRegistry()
        for name, told, value in _FIGURES:
            gauge = Gauge(f"hamlet_{name}", told, registry=registry)
            gauge.set_function(self._of(value))
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

    def _of(self, value: Callable[[Central], float | None]) -> Callable[[], float]:
        def asked() -> float:
            found = value(self.central)
            return nan if found is None else float(found)

        return asked


_FIGURES: tuple[tuple[str, str, Callable[[Central], float | None]], ...] = (
    (
        "model_correlation",
        "Correlation of the predicted and the measured time of bursts",
        lambda central: central.model.correlation,
    ),
    (
        "model_error_ratio",
        "By what part of the measured time half of the predictions are off, at the most",
        lambda central: central.model.error,
    ),
    (
        "policy_version",
        "Version of the newest policy",
        lambda central: central.policy.version,
    ),
    (
        "plan_version",
        "Version of the newest plan",
        lambda central: central.plan.version,
    ),
    (
        "replans",
        "How often the workload was planned anew",
        lambda central: central.plannings,
    ),
    (
        "replans_migrated",
        "How often another plan came of it",
        lambda central: central.migrations,
    ),
)
