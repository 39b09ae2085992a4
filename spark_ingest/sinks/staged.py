"""Messages of epochs that are to be sent, kept in files until they are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pyarrow as pa
from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

MESSAGES = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("key", pa.string()),
        pa.field("value", pa.string(), nullable=False),
    ]
)

_NAME = re.compile(r"epoch-(\d+)\.arrow")


class Staged:
    """Arrow files `epoch-N.arrow` in a folder; they appear whole or not at all."""

    def __init__(self, files: FileSystem, folder: str) -> None:
        self._files = files
        self._folder = folder.rstrip("/")

    def write(self, epoch: int, messages: pa.Table) -> None:
        self._files.create_dir(self._folder, recursive=True)
        path = self._path(epoch)
        waiting = f"{self._folder}/.{epoch}.tmp"
        with (
            self._files.open_output_stream(waiting) as stream,
            pa.ipc.new_file(stream, MESSAGES) as writer,
        ):
            writer.write_table(messages)
        self._sync(waiting)
        self._files.move(waiting, path)
        self._sync(self._folder)

    def read(self, epoch: int) -> pa.Table | None:
        """None if nothing is there."""
        if self._files.get_file_info(self._path(epoch)).type is FileType.NotFound:
            return None
        with self._files.open_input_file(self._path(epoch)) as file:
            return pa.ipc.open_file(file).read_all()

    def drop(self, *, below: int | None = None, above: int | None = None) -> None:
        """Removes what is before an epoch, or after it."""
        for epoch in list(self._epochs()):
            if (below is not None and epoch < below) or (above is not None and epoch > above):
                self._files.delete_file(self._path(epoch))

    def _epochs(self) -> Iterator[int]:
        for each in self._files.get_file_info(FileSelector(self._folder, allow_not_found=True)):
            found = _NAME.fullmatch(each.base_name)
            if found:
                yield int(found[1])

    def _path(self, epoch: int) -> str:
        return f"{self._folder}/epoch-{epoch}.arrow"

    def _sync(self, path: str) -> None:
        """Onto the disk: object stores do that by themselves."""
        if not isinstance(self._files, LocalFileSystem):
            return
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
