"""`hamlet bench`: runs the benchmarks of the source checkout.

A benchmark is a module `benchmarks/NAME.py` with `run(progress) -> dict`, where `progress` takes a
line to show; `query-add` is in `query_add.py`. It may have `table(result) -> list[dict]`, the rows
to print, and `judge(result)`, which raises if the result is bad. It has an option if `run` has a
parameter of that name.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from hamlet.cli import options
from hamlet.cli.flag_groups import ungrouped
from hamlet.cli.help import examples, prose
from hamlet.cli.progress import steps
from hamlet.cli.stderr import Notices
from hamlet.cli.text_table import TextTable, print_table
from runtime.errors import HamletError, did_you_mean

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = examples(
    ("hamlet bench", "list the benchmarks"),
    ("hamlet bench plain --json", "run one, and print JSON"),
    (
        "hamlet bench papers --quick",
        "every figure of the papers, with less data, in less than 20 minutes",
    ),
    (
        "hamlet bench papers --figure hamlet-9a --figure cogra --output here",
        "only a figure (hamlet-9a), a family of figures (hamlet-9) or a paper (cogra)",
    ),
    ("hamlet bench check", "check that no ratio has become worse"),
)


def register(app: typer.Typer) -> None:
    app.command("bench", help=prose(command), epilog=EXAMPLES)(ungrouped(command))


@dataclass(frozen=True)
class BenchFlags:
    """The options that only some benchmarks have."""

    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE",
            help="[b]papers[/b]: only this figure, family of figures or paper; repeatable. An "
            "unknown one lists all.",
        ),
    ] = None
    quick: Annotated[
        bool, typer.Option("--quick", help="[b]papers, rivals, scaling[/b]: measure less.")
    ] = False
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="[b]papers, rivals, scaling[/b]: the folder for measurements and plots. The "
            "default is build/NAME. [b]check[/b]: the file with the ratios to compare with.",
        ),
    ] = None
    cold: Annotated[
        bool, typer.Option("--cold", help="[b]query-add[/b]: start with no compiled kernels.")
    ] = False
    update: Annotated[
        bool, typer.Option("--update", help="[b]check[/b]: replace the reference ratios.")
    ] = False

    def arguments(self, name: str, module: ModuleType) -> dict[str, Any]:
        """The options that were given, for `run`. An option that the benchmark does not have is an
        error."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        given = {option: value for option, value in given.items() if value}
        known = inspect.signature(module.run).parameters
        for option in given:
            if option not in known:
                raise HamletError(
                    f"`hamlet bench {name}` has no --{option}", "see `hamlet bench --help`"
                )
        return given


def command(
    flags: BenchFlags,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The benchmark.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Runs a benchmark of the source checkout.

    Prints its results, as ratios within one run. Without NAME, lists the benchmarks.

    papers runs each system in a process of its own, on one thread: once to warm up and to compare
    all answers, then 7 times in turns with the others, 5 times with --quick. A run of more than
    20 s, or 1.5 s with --quick, is stopped and drawn as such.
    """
    found = benchmarks(CHECKOUT)
    if name is None:
        rows = [(each, _first_line(path)) for each, path in found.items()]
        print_table(TextTable.of(("name", "measures"), rows, right=set()))
        return
    if name not in found:
        raise HamletError(f"there is no benchmark `{name}`", did_you_mean(name, found))
    module = _load(found[name].stem, found[name])
    arguments = flags.arguments(name, module)
    with steps(Notices(quiet)) as progress:
        result = module.run(progress, **arguments)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        print_table(_result_table(module, result))
    if hasattr(module, "judge"):
        module.judge(result)


def benchmarks(checkout: Path) -> dict[str, Path]:
    """The benchmarks by name. Files that start with `_` are helpers."""
    folder = checkout / "benchmarks"
    if not folder.is_dir():
        raise HamletError(
            "benchmarks are part of the source checkout, but this is an installed package",
            "run `make bench` in a checkout",
        )
    paths = [path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_")]
    return {path.stem.replace("_", "-"): path for path in paths if _is_benchmark(path)}


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks.{name}", path)
    if spec is None or spec.loader is None:
        raise HamletError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]  # a later import would find half of it
        raise
    return module


def _is_benchmark(path: Path) -> bool:
    """Whether a file defines `run`. The file is not executed."""
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(each, ast.FunctionDef) and each.name == "run" for each in parsed.body)


def _result_table(module: ModuleType, result: dict[str, Any]) -> TextTable:
    table: Callable[[dict[str, Any]], list[dict[str, Any]]] | None = getattr(module, "table", None)
    rows = [{"measure": key, "value": value} for key, value in result.items()]
    if table is not None:
        rows = table(result)
    names = list(rows[0]) if rows else []
    numbers = {name for name in names if all(isinstance(row[name], int | float) for row in rows)}
    return TextTable.of(
        names, [[_cell(row[name]) for name in names] for row in rows], right=numbers
    )


def _cell(value: Any) -> str:
    """Measurements are shown with four digits."""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def _first_line(path: Path) -> str:
    """The first line of a benchmark's docstring. The file is not executed."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return said.splitlines()[0] if said else ""
