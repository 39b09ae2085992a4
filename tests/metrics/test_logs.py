"""Lines of a log: what is new in the snapshot, as text or JSON."""

import io
import json
import logging

import pytest

from hamlet.logs import MetricsLogger, configure, log
from metrics.snapshots import decided
from runtime.metrics.collector import EpochStats, MetricsCollector
from runtime.optimizer.model_report import ModelMetrics, Replan


@pytest.fixture
def lines():
    stream = io.StringIO()
    names = ("hamlet", "runtime", "actors", "spark_ingest")
    loggers = [logging.getLogger(name) for name in names]
    before = [(each, each.handlers, each.propagate) for each in loggers]

    def begin(format: str):
        configure(format, stream)
        return lambda: stream.getvalue().splitlines()

    yield begin
    for logger, handlers, propagate in before:
        logger.handlers = handlers
        logger.propagate = propagate


def test_each_epoch_and_decision_once(lines):
    read = lines("json")
    collector, logged = MetricsCollector("j", "ray", ["q", "r"]), MetricsLogger()
    for epoch in range(3):
        collector.record_epoch(
            EpochStats(
                epoch,
                rows=10 * (epoch + 1),
                events=9 * (epoch + 1),
                invalid_rows={"no time": epoch},
                stages={"spark": 0.25},
                results={"q": 2},
                decided={"1": [decided("q", "r", shared=epoch + 1)]},
                watermark=1_700_000_000_000_000,
            )
        )
        logged.update(collector.snapshot)
        logged.update(collector.snapshot)  # nothing is new
    found = [json.loads(line) for line in read()]
    epochs = [each for each in found if each["event"] == "epoch"]
    assert [each["epoch"] for each in epochs] == [0, 1, 2]
    assert [(each["rows"], each["events"], each["invalid_rows"]) for each in epochs] == [
        (10, 9, 0),
        (10, 9, 1),
        (10, 9, 1),
    ]
    assert epochs[2]["seconds"] == {"spark": 0.25}
    assert epochs[2]["watermark"] == "2023-11-14T22:13:20.000+00:00"
    decisions = [each for each in found if each["event"] == "decision"]
    assert [(d["epoch"], d["share_group"], d["actor"]) for d in decisions] == [
        (0, "q +1", "1"),
        (1, "q +1", "1"),
        (2, "q +1", "1"),
    ]
    assert "sharing by 2 queries" in decisions[0]["why"]


def test_restarts_and_plans(lines):
    read = lines("json")
    collector, logged = MetricsCollector("j", "ray", []), MetricsLogger()
    for _ in range(2):
        collector.count_restart("spark")
        collector.set_model(
            ModelMetrics(last_replans=(Replan(1.0, "why", "gloria", 9.0, 5.0, True),))
        )
        logged.update(collector.snapshot)
    found = [json.loads(line) for line in read()]
    assert [each["event"] for each in found] == ["replan", "restart", "restart"]
    assert found[0]["reason"] == "why"
    assert found[1]["level"] == "warning"


def test_text(lines):
    read = lines("text")
    log("epoch", job="a b", epoch=3, text='x="y"\n', seconds={"spark": 0.1})
    try:
        raise ValueError("odd")
    except ValueError:
        logging.getLogger("runtime.plan").exception("planning has failed")
    first, second, *traceback = read()
    assert first.endswith('info epoch job="a b" epoch=3 text="x=\\"y\\"\\n" seconds={"spark": 0.1}')
    assert "error planning has failed" in second
    assert traceback[-1] == "ValueError: odd"


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize(
    "evil", ["\x1b[2J", "two\nlines", "\u202egnp.exe", "\u2028", "\x9b31m", "\0"]
)
def test_no_value_controls_the_terminal(lines, format: str, evil: str):
    logged = lines(format)
    log("notice", text=evil, more=[evil])
    (line,) = logged()
    assert line.isprintable()
    if format == "json":
        assert json.loads(line)["text"] == evil
