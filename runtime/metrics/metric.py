"""Describes one metric: its name, help text, unit and labels, and how to read its value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from runtime.metrics.histogram import Histogram
from runtime.metrics.snapshot import MetricsSnapshot

Value: TypeAlias = float | Histogram
Labels: TypeAlias = tuple[str, ...]

#: Without labels: a value, or None while it is unknown. With labels: values by label value, or by
#: the tuple of label values if there are several labels.
Reading: TypeAlias = Value | Mapping[str, Value] | Mapping[Labels, Value] | None
Reader: TypeAlias = Callable[[MetricsSnapshot], Reading]


@dataclass(frozen=True)
class MetricDeclaration:
    """`name` is the name that Prometheus scrapes: a counter ends with `_total`. `unit` is what the
    value counts or measures; Prometheus wants base units: seconds, bytes, ratios."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    help: str
    unit: str
    read: Reader
    labels: Labels = ()

    def samples(self, snapshot: MetricsSnapshot) -> Iterator[tuple[Labels, Value]]:
        """Pairs of label values and value. Empty while the value is unknown."""
        reading = self.read(snapshot)
        if isinstance(reading, Mapping):
            for key, value in reading.items():
                yield (key,) if isinstance(key, str) else key, value
        elif reading is not None:
            yield (), reading


def counter(
    name: str, help: str, unit: str, read: Reader, labels: Labels = ()
) -> MetricDeclaration:
    """A total that only grows."""
    return MetricDeclaration("counter", name, help, unit, read, labels)


def gauge(name: str, help: str, unit: str, read: Reader, labels: Labels = ()) -> MetricDeclaration:
    """A value that goes up and down."""
    return MetricDeclaration("gauge", name, help, unit, read, labels)


def histogram(
    name: str, help: str, unit: str, read: Reader, labels: Labels = ()
) -> MetricDeclaration:
    """Measured values, counted by size."""
    return MetricDeclaration("histogram", name, help, unit, read, labels)
