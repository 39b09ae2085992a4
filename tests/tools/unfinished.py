"""Temporary files of processes that are gone."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from pathlib import Path
from runtime.io.atomic import unfinished

path = unfinished(Path(sys.argv[1]))
path.write_bytes(b"half")
print(path)
"""


def left_by_killed_process(path: Path) -> Path:
    """What a process leaves that dies while it writes a file."""
    command = [sys.executable, "-c", PROGRAM, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Path(done.stdout.strip())
