"""Lets a command take its options in groups, each a dataclass, instead of one by one.

@dataclass(frozen=True)
class InputFlags:
    input: Annotated[str, typer.Option("--input", help="...")]
    follow: Annotated[bool, typer.Option("--follow", help="...")] = False

def command(input: InputFlags, quiet: options.Quiet = False) -> None: ...

app.command("run")(ungrouped(command))     # hamlet run --input ... --follow --quiet
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def ungrouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a parameter for each field of its groups. Typer makes options of the
    parameters; the groups are built from their values."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    def call(**values: Any) -> None:
        built = {
            name: group(**{each.name: values.pop(each.name) for each in fields(group)})  # type: ignore[operator]
            for name, group in groups.items()
        }
        command(**values, **built)

    parameters = list(_parameters(command, hints))
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def _parameters(command: Callable[..., None], hints: dict[str, Any]) -> Iterator[Parameter]:
    for name, given in signature(command).parameters.items():
        if not is_dataclass(hints[name]):
            yield _parameter(name, hints[name], given.default)
            continue
        inner = get_type_hints(hints[name], include_extras=True)
        for each in fields(hints[name]):
            yield _parameter(each.name, inner[each.name], _default(each))


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _default(each: Field[Any]) -> Any:
    return Parameter.empty if each.default is MISSING else each.default
