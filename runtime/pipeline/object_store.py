"""A folder of an object store: an object appears when its upload ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import pyarrow as pa
import pyarrow.fs as pfs


class ObjectStore:
    def __init__(self, files: pfs.FileSystem, path: str) -> None:
        self._files = files
        self._path = path.rstrip("/")

    def create(self) -> None:
        self._files.create_dir(self._path, recursive=True)

    def write(self, name: str, parts: Sequence[bytes | pa.Buffer], *, replace: bool = False) -> int:
        """Arrow completes an upload even if its writer fails, so what is half there is deleted: it
        could be taken for the newest record. What was to `replace` an object stays instead: nothing
        would be worse than half of it."""
        try:
            with self._files.open_output_stream(self._at(name)) as stream:
                return sum(stream.write(part) for part in parts)
        except BaseException:
            if not replace:
                with suppress(OSError, pa.ArrowException):
                    self.delete(name)
            raise

    def read(self, name: str, offset: int, length: int | None) -> pa.Buffer:
        with self._files.open_input_file(self._at(name)) as file:
            file.seek(offset)
            return file.read_buffer(file.size() - offset if length is None else length)

    def names(self, below: str) -> Iterator[str]:
        root = self._at(below) if below else self._path
        wanted = pfs.FileSelector(root, recursive=True, allow_not_found=True)
        cut = len(self._path) + 1
        return (info.path[cut:] for info in self._files.get_file_info(wanted) if info.is_file)

    def exists(self, name: str) -> bool:
        return bool(self._files.get_file_info(self._at(name)).is_file)

    def delete(self, name: str) -> None:
        self._files.delete_file(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"
