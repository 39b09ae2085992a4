"""Files of events in, files of results out."""

from runtime.files.read import Input, open_input
from runtime.files.reader import Block
from runtime.files.side import DEAD_LETTER, LATE, SideWriter
from runtime.files.write import ResultWriter, write_results

__all__ = [
    "DEAD_LETTER",
    "LATE",
    "Block",
    "Input",
    "ResultWriter",
    "SideWriter",
    "open_input",
    "write_results",
]
