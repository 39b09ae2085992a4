"""Reads events from files and writes results to files."""

from runtime.io.read import InputFiles, open_input
from runtime.io.side_output import DEAD_LETTER, LATE, SideWriter
from runtime.io.write import ResultWriter
from runtime.pipeline.block import RowBlock

__all__ = [
    "DEAD_LETTER",
    "LATE",
    "InputFiles",
    "ResultWriter",
    "RowBlock",
    "SideWriter",
    "open_input",
]
