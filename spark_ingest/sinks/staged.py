"""Messages of epochs that are to be sent, kept in files until they are."""

from __future__ import annotations

import re

import pyarrow as pa

from runtime.epochs.folder import Folder

MESSAGES = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("key", pa.string()),
        pa.field("value", pa.string(), nullable=False),
    ]
)

_NAME = re.compile(r"epoch-(\d+)\.arrow")


class Staged:
    """Arrow files `epoch-N.arrow` in a folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def write(self, epoch: int, messages: pa.Table) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, MESSAGES) as writer:
            writer.write_table(messages)
        self._folder.write(_name(epoch), sink.getvalue())

    def read(self, epoch: int) -> pa.Table | None:
        """None if nothing is there."""
        if not self._folder.exists(_name(epoch)):
            return None
        return pa.ipc.open_file(self._folder.read(_name(epoch))).read_all()

    def drop(self, *, below: int | None = None, above: int | None = None) -> None:
        """Removes what is before an epoch, or after it."""
        for name in self._folder.names():
            found = _NAME.fullmatch(name)
            if found is None:
                continue
            epoch = int(found[1])
            if (below is not None and epoch < below) or (above is not None and epoch > above):
                self._folder.delete(name)


def _name(epoch: int) -> str:
    return f"epoch-{epoch}.arrow"
