"""Formats the help of commands: their docstrings, and examples below the options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from rich.markup import escape


def prose(command: Callable[..., Any]) -> str:
    """A command's docstring without its line breaks, so that it fits any terminal."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def examples(*pairs: tuple[str, str]) -> str:
    """Formats commands, each with what it does."""
    lines = [f"  {escape(command)}\n      [dim]{escape(why)}[/dim]" for command, why in pairs]
    return "\n".join(["[bold]Examples[/bold]", *lines])
