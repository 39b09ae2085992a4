from pathlib import Path

import pytest

from benchmarks._papers import experiment

HERE = Path(__file__).parent


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an experiment that is there for tests only, with its stream."""
    monkeypatch.setattr(experiment, "STREAMS", "bench.papers.streams")
    return HERE / "experiments"
