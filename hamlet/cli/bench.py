"""`hamlet bench`: the benchmarks of the source checkout.

A benchmark is a module `benchmarks/NAME.py` with `run(progress) -> dict`, where `progress` takes a
line to show, and perhaps `table(result) -> list[dict]`, the rows to print, and `judge(result)`,
which raises when they tell of something bad. Options are for those of which `run` has a parameter
of that name.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from hamlet.cli import options
from hamlet.cli.help import examples, prose
from hamlet.cli.progress import steps
from hamlet.cli.stderr import Notices
from hamlet.cli.text_table import Grid, show
from runtime.errors import HamletError, did_you_mean

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = examples(
    ("hamlet bench", "which benchmarks there are"),
    ("hamlet bench plain --json", "one of them, for programs"),
    ("hamlet bench papers --quick", "every figure of the papers, small, in less than 20 minutes"),
    (
        "hamlet bench papers --figure hamlet-9a --figure cogra --output here",
        "a figure (hamlet-9a), a family of them (hamlet-9) or a paper (cogra) by itself",
    ),
    ("hamlet bench check", "whether a ratio has become worse"),
)


def register(app: typer.Typer) -> None:
    app.command("bench", help=prose(command), epilog=EXAMPLES)(command)


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The benchmark.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was measured as JSON.")
    ] = False,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE",
            help="[b]papers[/b]: only this figure, family of figures or paper; may be repeated. An "
            "unknown one lists all.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="[b]papers, rivals, scaling[/b]: measure less.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="[b]papers, rivals, scaling[/b]: where measurements and plots go; build/NAME.",
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="[b]check[/b]: renew what is compared with.")
    ] = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Runs a benchmark of the source checkout.

    Prints what it measured, as ratios within one run. Without NAME, lists the benchmarks.

    papers runs each system in a process of its own, on one thread: a run to warm up, of which all
    answers are compared, then 7 in turns with the others, 5 with --quick. One that takes longer
    than 20 s, or 1.5 s with --quick, is ended and drawn as such.
    """
    given = {"figure": figure, "quick": quick, "output": output, "update": update}
    found = benchmarks(CHECKOUT)
    if name is None:
        rows = [(each, _first_line(path)) for each, path in found.items()]
        show(Grid.of(("name", "measures"), rows, right=set()))
        return
    if name not in found:
        raise HamletError(f"there is no benchmark `{name}`", did_you_mean(name, found))
    module = _load(name, found[name])
    asked = _taken(name, module, given)
    with steps(Notices(quiet)) as progress:
        result = module.run(progress, **asked)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(_measured(module, result))
    if hasattr(module, "judge"):
        module.judge(result)


def _taken(name: str, module: ModuleType, given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given. One that a benchmark has no use for is a mistake."""
    asked = {option: value for option, value in given.items() if value}
    known = inspect.signature(module.run).parameters
    for option in asked:
        if option not in known:
            raise HamletError(
                f"`hamlet bench {name}` has no --{option}", "`hamlet bench --help` says which have"
            )
    return asked


def benchmarks(checkout: Path) -> dict[str, Path]:
    """The benchmarks by name. Files that start with `_` are helpers of theirs."""
    folder = checkout / "benchmarks"
    if not folder.is_dir():
        raise HamletError(
            "benchmarks are part of the source checkout, and this is an installed package",
            "run `make bench` in a checkout",
        )
    paths = [path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_")]
    return {path.stem: path for path in paths if _runs(path)}


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks.{name}", path)
    if spec is None or spec.loader is None:
        raise HamletError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]  # others would find half of it there
        raise
    return module


def _runs(path: Path) -> bool:
    """Whether it is a benchmark, without running it."""
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(each, ast.FunctionDef) and each.name == "run" for each in parsed.body)


def _measured(module: ModuleType, result: dict[str, Any]) -> Grid:
    table: Callable[[dict[str, Any]], list[dict[str, Any]]] | None = getattr(module, "table", None)
    rows = [{"measure": key, "value": value} for key, value in result.items()]
    if table is not None:
        rows = table(result)
    names = list(rows[0]) if rows else []
    numbers = {name for name in names if all(isinstance(row[name], int | float) for row in rows)}
    return Grid.of(names, [[_cell(row[name]) for name in names] for row in rows], right=numbers)


def _cell(value: Any) -> str:
    """Four digits are as many as a measurement has."""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def _first_line(path: Path) -> str:
    """What a benchmark says of itself, without running it."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return said.splitlines()[0] if said else ""
