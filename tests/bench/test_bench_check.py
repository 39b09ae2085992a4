"""`hamlet bench check`: verdicts, what is committed, and that all of it runs, on few events."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import _ratios, check
from benchmarks._ratios import Ratio
from benchmarks.check import Committed
from hamlet.cli import app
from runtime.errors import HamletError


@pytest.mark.parametrize(
    ("found", "verdict"),
    [(2.0, "within"), (2.39, "within"), (2.41, "worse"), (1.68, "within"), (1.6, "better")],
)
def test_a_verdict(found: float, verdict: str) -> None:
    assert Committed(2.0, 0.2).verdict(found) == verdict


def test_the_tolerance_comes_from_the_spread_and_is_never_narrow() -> None:
    assert Committed.of([2.0, 2.01, 1.99]) == Committed(2.0, 0.15)
    assert Committed.of([2.0, 2.2, 1.8, 2.0, 2.0]).tolerance == 0.15
    wide = Committed.of([2.0, 2.2, 1.8, 1.7, 2.4])
    assert (wide.ratio, wide.tolerance) == (2.0, pytest.approx(4 * 0.2 / 2.0))
    assert Committed.of([2.0, 2.0, 2.0, 2.0, 3.0]).tolerance == 0.5  # what was seen is within it


def test_the_committed_ratios_are_those_that_are_measured() -> None:
    assert list(check.read(check.COMMITTED)) == [ratio.name for ratio in _ratios.RATIOS]
    named = {name for ratio in _ratios.RATIOS for name in (ratio.of, ratio.to)}
    assert named == _ratios.WORKS.keys()


# ---- runs, with works that take as long as they are told to -----------------------------------


def spin(steps: int):
    return lambda: lambda: sum(range(steps))


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """One work ten times as long as the other, and a file for ratios of them."""
    monkeypatch.setattr(_ratios, "WORKS", {"long": spin(2_000_000), "short": spin(200_000)})
    monkeypatch.setattr(_ratios, "RATIOS", (Ratio("long_over_short", "long", "short"),))
    monkeypatch.setattr(check, "REPEATS", 2)
    monkeypatch.setattr(check, "SETS", 2)
    return tmp_path / "check.json"


def written(path: Path, **ratios: float) -> Path:
    data = {name: {"ratio": ratio, "tolerance": 0.2} for name, ratio in ratios.items()}
    path.write_text(json.dumps(data))
    return path


def test_worse_is_measured_again_shown_and_refused(two: Path) -> None:
    said: list[str] = []
    result = check.run(said.append, output=written(two, long_over_short=1.0))
    assert said[-1] == "once more: long_over_short"
    (row,) = check.table(result)
    assert (row["verdict"], row["committed"], row["tolerance"]) == ("worse", 1.0, "20%")
    with pytest.raises(HamletError, match="a ratio has become worse: long_over_short"):
        check.judge(result)


def test_better_is_told_and_not_refused(two: Path) -> None:
    result = check.run(lambda line: None, output=written(two, long_over_short=1_000.0))
    assert result["long_over_short"]["verdict"] == "better"
    check.judge(result)


def test_renewed_ratios_are_what_is_compared_with(two: Path) -> None:
    renewed = check.run(lambda line: None, update=True, output=two)
    assert 3 < renewed["long_over_short"]["ratio"] < 30
    assert list(check.read(two)) == ["long_over_short"]


def test_a_ratio_that_is_missing_or_gone_is_an_error(two: Path) -> None:
    with pytest.raises(HamletError, match="has no ratio `long_over_short`"):
        check.run(lambda line: None, output=written(two))
    path = written(two, long_over_short=10.0, another=1.0)
    with pytest.raises(HamletError, match="nothing measures `another`"):
        check.run(lambda line: None, output=path)
    with pytest.raises(HamletError, match="is not there"):
        check.run(lambda line: None, output=two.with_name("none.json"))
    two.write_text('{"long_over_short": 3}')
    with pytest.raises(HamletError, match="has no ratios"):
        check.run(lambda line: None, output=two)


# ---- the command -------------------------------------------------------------------------------


def test_an_option_that_a_benchmark_has_no_use_for_is_an_error() -> None:
    done = CliRunner().invoke(app, ["bench", "plain", "--update"])
    assert done.exit_code == 1
    assert "`hamlet bench plain` has no --update" in done.stderr


def test_every_ratio_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HAMLET_BENCH_REPEATS", "1")
    monkeypatch.setenv("HAMLET_BENCH_SETS", "1")
    monkeypatch.setattr(_ratios, "EVENTS", 2_000)
    monkeypatch.setattr(_ratios, "PLANNED", 10)
    path = tmp_path / "check.json"
    done = CliRunner().invoke(app, ["bench", "check", "--update", "--output", str(path), "--json"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout).keys() == {ratio.name for ratio in _ratios.RATIOS}
    first = _ratios.RATIOS[0]
    monkeypatch.setattr(_ratios, "RATIOS", (first,))  # one is enough to be refused
    done = CliRunner().invoke(
        app, ["bench", "check", "--output", str(written(path, **{first.name: 1e-9}))]
    )
    assert done.exit_code == 1
    assert f"a ratio has become worse: {first.name}" in done.stderr
    assert "worse" in done.stdout
