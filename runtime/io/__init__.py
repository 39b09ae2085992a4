"""Reads events from files and writes results to files."""

from runtime.io.read import InputFiles, open_input
from runtime.io.side_output import SideWriter
from runtime.io.write import ResultWriter
from runtime.pipeline.block import RowBlock

__all__ = [
    "InputFiles",
    "ResultWriter",
    "RowBlock",
    "SideWriter",
    "open_input",
]
