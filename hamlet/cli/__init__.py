"""The command line: a module for each command; `exits` turns mistakes into exit codes."""

from hamlet.cli.app import app, main

__all__ = ["app", "main"]
