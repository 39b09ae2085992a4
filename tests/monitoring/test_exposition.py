"""Prometheus' own tool reads what a job with hostile names exposes."""

from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from metrics.snapshots import EVIL, named
from runtime.metrics.prometheus import PrometheusCollector


@pytest.mark.parametrize("evil", EVIL)
def test_the_tool_of_prometheus_finds_nothing_wrong(promtool: Callable[..., str], evil: str):
    registry = CollectorRegistry()
    registry.register(PrometheusCollector(lambda: named(evil)))
    promtool("check", "metrics", stdin=generate_latest(registry).decode())
