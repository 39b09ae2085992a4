"""Options of a command in groups."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from hamlet.cli.flag_groups import ungrouped


@dataclass(frozen=True)
class Source:
    path: Annotated[str, typer.Option("--path", "-p", help="Where to read.")]
    limit: Annotated[int, typer.Option(min=0)] = 10


@dataclass(frozen=True)
class Target:
    target: Annotated[str | None, typer.Option()] = None


@pytest.fixture
def calls() -> list[tuple]:
    return []


@pytest.fixture
def invoke(calls):
    def command(
        name: Annotated[str, typer.Argument()],
        source: Source,
        target: Target,
        quiet: Annotated[bool, typer.Option("--quiet")] = False,
    ) -> None:
        calls.append((name, source, target, quiet))

    app = typer.Typer()
    app.command()(ungrouped(command))
    return lambda *words: CliRunner().invoke(app, words)


def test_groups_are_built_from_options(invoke, calls):
    done = invoke("a", "-p", "in", "--target", "out", "--limit", "3", "--quiet")
    assert done.exit_code == 0, done.output
    assert calls == [("a", Source("in", 3), Target("out"), True)]


def test_defaults_are_those_of_the_fields(invoke, calls):
    assert invoke("a", "--path", "in").exit_code == 0
    assert calls == [("a", Source("in"), Target(), False)]


def test_a_field_without_a_default_is_required(invoke, calls):
    done = invoke("a")
    assert done.exit_code != 0
    assert "--path" in done.output
    assert calls == []


def test_limits_of_a_field_hold(invoke, calls):
    assert invoke("a", "--path", "in", "--limit", "-1").exit_code != 0
    assert calls == []


def test_help_lists_every_field(invoke):
    shown = invoke("--help").output
    for option in ("--path", "--limit", "--target", "--quiet", "Where to read."):
        assert option in shown
