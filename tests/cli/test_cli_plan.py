"""`hamlet run --plan`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hamlet.cli import app

EXAMPLE = Path(__file__).parents[2] / "examples" / "plan"
STREAM = "generate:ridesharing?events=3000&seed=2"


def run(*arguments: object):
    words = ["run", EXAMPLE / "workload.sase", "--input", STREAM, "--engine", "local"]
    given = [str(word) for word in (*words, "--format", "csv", *arguments)]
    return CliRunner().invoke(app, given)


def test_results_do_not_depend_on_it():
    with_plan, without = run("--plan", EXAMPLE / "plan.yaml"), run()
    assert with_plan.exit_code == without.exit_code == 0
    assert with_plan.stdout == without.stdout
    assert with_plan.stdout.count("\n") > 10


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("shared: [", "is not valid YAML"),
        ("shared: 1", "`shared` of the plan must be a list"),
        ("groups: [[rounds, round]]", "did you mean `rounds`?"),
        ("shared: [{queries: [rounds, accepted], transitions: [[Pickup]]}]", "is not a pair"),
        (
            "shared: [{queries: [rounds, accepted], transitions: [[Pickup, Dropoff]]}]",
            "its pattern has the step Dropoff to Pickup",
        ),
    ],
)
def test_a_wrong_one_is_refused(tmp_path: Path, text: str, words: str):
    file = tmp_path / "plan.yaml"
    file.write_text(text)
    done = run("--plan", file)
    assert done.exit_code == 1
    assert words in done.output
    assert "Traceback" not in done.output


def test_a_missing_one(tmp_path: Path):
    done = run("--plan", tmp_path / "none.yaml")
    assert done.exit_code == 1
    assert "No such file" in done.output


def test_the_exact_engine_takes_none():
    done = run("--plan", EXAMPLE / "plan.yaml", "--numeric", "exact")
    assert done.exit_code == 1
    assert "--plan is for --numeric float" in done.output
