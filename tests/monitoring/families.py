"""All metrics that there can be."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.metrics.histogram import Histogram
from runtime.metrics.prometheus import families
from runtime.metrics.snapshot import ActorFacts, CheckpointFacts, Facts, GroupFacts, QueryFacts
from runtime.optimizer.model_report import ModelFacts
from runtime.plan.decisions import TypeDecisions

#: A job of which everything is known.
FACTS = Facts(
    epoch=0,
    dead={"the type is null": 1},
    stages={"compute": Histogram()},
    queries={"q": QueryFacts()},
    groups=(GroupFacts("q", ("q",), "bursts", (TypeDecisions("A", 1, 1, 1, 1, 9, 2, 3.0),)),),
    actors={"0": ActorFacts()},
    model=ModelFacts(correlation=0.9, kinds_correlation=0.97, error=0.1),
    checkpoint=CheckpointFacts(1, 1, 1.0),
    watermark=1,
    newest=2,
)


@dataclass(frozen=True)
class Family:
    """As it is scraped: the name of a counter ends with _total."""

    name: str
    kind: str
    labels: tuple[str, ...]
    told: str


def every_family() -> list[Family]:
    found = []
    for family in families(FACTS):
        assert family.samples, family.name
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = [label for label in family.samples[0].labels if label not in ("hamlet_job", "le")]
        assert "hamlet_job" in family.samples[0].labels
        found.append(Family(name, family.type, tuple(labels), family.documentation))
    return found
