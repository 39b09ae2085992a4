"""Help that teaches: what a command does, and examples under its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from rich.markup import escape


def prose(command: Callable[..., Any]) -> str:
    """A command's docstring without its line breaks: lines are as long as the terminal is wide."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def examples(*pairs: tuple[str, str]) -> str:
    """Commands, each with what it is for."""
    lines = [f"  {escape(command)}\n      [dim]{escape(why)}[/dim]" for command, why in pairs]
    return "\n".join(["[bold]Examples[/bold]", *lines])
