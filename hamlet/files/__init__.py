"""Files of events in, files of results out."""

from hamlet.files.read import Input, open_input
from hamlet.files.reader import Block
from hamlet.files.side import DEAD_LETTER, LATE, SideWriter
from hamlet.files.write import ResultWriter, write_results

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
