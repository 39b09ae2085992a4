"""Files of events in, files of results out."""

from runtime.io.read import Input, open_input
from runtime.io.side_output import DEAD_LETTER, LATE, SideWriter
from runtime.io.write import ResultWriter, write_results
from runtime.pipeline.block import Block

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
