"""What the environment says of a benchmark, sense or not."""

import pytest
from typer.testing import CliRunner

from benchmarks._environment import number, whole
from hamlet.cli import app
from runtime.errors import HamletError


def test_a_number_or_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert whole("EVENTS", 7) == 7
    monkeypatch.setenv("HAMLET_BENCH_EVENTS", "2_000_000")
    monkeypatch.setenv("HAMLET_BENCH_MINUTES", "0.5")
    assert whole("EVENTS", 7) == 2_000_000
    assert number("MINUTES", 30.0) == 0.5
    monkeypatch.setenv("HAMLET_BENCH_EVENTS", "")
    assert whole("EVENTS", 7) == 7


@pytest.mark.parametrize("text", ["many", "1.5", "0", "-3"])
def test_nonsense_names_the_variable(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("HAMLET_BENCH_EVENTS", text)
    with pytest.raises(HamletError, match=f"HAMLET_BENCH_EVENTS is `{text}`"):
        whole("EVENTS", 7)


@pytest.mark.parametrize("text", ["many", "nan", "inf", "0"])
def test_nonsense_for_a_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("HAMLET_BENCH_MINUTES", text)
    with pytest.raises(HamletError, match=f"HAMLET_BENCH_MINUTES is `{text}`"):
        number("MINUTES", 30.0)


@pytest.mark.parametrize(
    ("benchmark", "variable"),
    [
        ("engine", "HAMLET_BENCH_EVENTS"),
        ("sharing", "HAMLET_BENCH_EVENTS"),
        ("learning", "HAMLET_BENCH_REPEATS"),
        ("pipeline", "HAMLET_BENCH_REPEATS"),
        ("planner", "HAMLET_BENCH_WORKLOADS"),
        ("soak", "HAMLET_BENCH_MINUTES"),
    ],
)
def test_a_benchmark_tells_nonsense_as_an_error(
    monkeypatch: pytest.MonkeyPatch, benchmark: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "many")
    done = CliRunner().invoke(app, ["bench", benchmark])
    assert done.exit_code == 1
    assert done.stderr.splitlines()[0] == f"error: {variable} is `many`"
