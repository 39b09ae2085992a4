"""Lists the data files of an input folder, and what in it is skipped: links that are not followed,
folders that cannot be read, and names that are not UTF-8."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from runtime.errors import InputError, is_environment, os_failure
from runtime.io.formats import Format, by_name
from runtime.pipeline.blob_store import CorruptCheckpoint
from runtime.types.name_bytes import is_utf8, with_bytes_escaped

_OUTSIDE = "it leads out of the folder; --follow-links follows it"
_TO_FOLDER = "it leads to a folder; --follow-links follows it"
_MAY_BE_CHANGED = (
    "something else may have changed the checkpoint, or the topic with the epochs of the sink"
)
_BROKEN, _LOOP = "it leads nowhere", "it leads in a circle"
_TOO_LONG = "its path is too long"
_LONGEST_PATH, _LONGEST_NAME = 4_096, 255


@dataclass(frozen=True)
class FolderListing:
    """Names relative to the folder."""

    files: list[str]  #: data files, in order
    skipped: list[str] = field(default_factory=list)  #: files that are not data
    links: dict[str, str] = field(default_factory=dict)  #: links not followed, with the reason
    #: folders that could not be read, each with a separator at its end, with the reason
    unreadable: dict[str, str] = field(default_factory=dict)
    not_utf8: list[str] = field(default_factory=list)  #: names of files, folders and links

    def warnings(self) -> Iterator[str]:
        for name, reason in self.links.items():
            yield f"the link {name} is skipped: {reason}"
        for name, reason in self.unreadable.items():
            yield f"the folder {name} is skipped: {reason}"
        if self.not_utf8:
            first = with_bytes_escaped(self.not_utf8[0])
            more = len(self.not_utf8) - 1
            others = f" and {more} more are" if more else " is"
            yield f"{first}{others} skipped: the name is not UTF-8; rename it"

    def hidden(self, names: Sequence[str]) -> list[str]:
        """Those of the names that are in a folder that could not be read."""
        folders = tuple(self.unreadable)
        return [name for name in names if name.startswith(folders)] if folders else []


class WarnOnce:
    """Passes each warning on once: a followed folder is listed many times a second."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._known: set[str] = set()

    def __call__(self, text: str) -> None:
        if text not in self._known:
            self._known.add(text)
            self._warn(text)


def list_files(folder: Path, wish: Format | None, follow_links: bool = False) -> FolderListing:
    """Lists a folder and all folders below it. It is fast, for the same reason.

    Whoever can write to the folder must not be able to have any file of this machine read: a link
    is followed only to a file inside the folder, unless `follow_links`.
    """
    try:
        walk = _Walk(str(folder), follow_links)
        found = sorted(walk.names(), key=lambda name: name.split(os.sep))
    except OSError as error:
        raise os_failure(f"cannot read {folder}", error, user_error=InputError) from error
    files, skipped = [], []
    for name in found:
        kind = by_name(name)
        if wish is None and kind is None:
            skipped.append(name)
        elif wish is None or kind in (wish, None):
            files.append(name)
    return FolderListing(
        files,
        skipped,
        dict(sorted(walk.refused.items())),
        dict(sorted(walk.unreadable.items())),
        sorted(walk.not_utf8),
    )


def check_name(path: Path | str) -> None:
    """Refuses an input whose name is not UTF-8: checkpoints, dead letters and Spark name it."""
    if not is_utf8(str(path)):
        raise InputError(
            f"cannot read {with_bytes_escaped(str(path))}: its name is not UTF-8", "rename it"
        )


def check_listed(folder: Path, names: object, listed: Collection[str]) -> Sequence[str]:
    """The names of files to be read once more, which come from a checkpoint or from the topic of
    a sink. Whoever can write there must not be able to have any file of this machine read: only
    files of the listing are accepted."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise CorruptCheckpoint(f"the position in {folder} is not a list of files", _MAY_BE_CHANGED)
    for name in names:
        if name in listed:
            continue
        if not _is_listable(name) or os.path.lexists(folder / name):
            raise CorruptCheckpoint(
                f"{name!r} is to be read once more, but is not an input file in {folder}",
                _MAY_BE_CHANGED,
            )
        raise gone(folder / name)
    return names


def leads_outside(folder: Path, path: str) -> bool:
    """Whether a file that was listed has become a link, or is behind one, that leads elsewhere."""
    return not _contains(os.path.realpath(folder), os.path.realpath(path))


def gone(path: Path | str) -> InputError:
    return InputError(
        f"{path} is gone, and must be read once more: the checkpoint after it was damaged",
        "put it back, or start over without the checkpoint",
    )


def _is_listable(name: str) -> bool:
    """Whether a listing could have this name."""
    if "\0" in name or not is_utf8(name):
        return False
    return not any(part.startswith((".", "_")) or not part for part in name.split(os.sep))


class _Walk:
    """Keeps a list of folders to look into: those of a user may be nested deeper than calls."""

    def __init__(self, root: str, follow_links: bool) -> None:
        self._root = root
        self._follow = follow_links
        # Any file in a folder can be opened, also by its absolute path, as Spark does.
        self._longest = _LONGEST_PATH - _LONGEST_NAME - len(os.fsencode(os.path.abspath(root))) - 2
        # Each with the real paths of the folders on the way, if a link led there.
        self._ahead: list[tuple[str, tuple[str, ...]]] = [("", ())]
        self.refused: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}
        self.not_utf8: list[str] = []

    def names(self) -> Iterator[str]:
        while self._ahead:
            inside, above = self._ahead.pop()
            for entry in self._entries(inside):
                if not entry.name.startswith((".", "_")):
                    yield from self._names_of(entry, inside + entry.name, above)

    def _entries(self, inside: str) -> list[os.DirEntry[str]]:
        """Without those of a folder below the root that has gone or may not be read. The dot at
        the end is for a folder that may be listed but not entered."""
        if inside and len(os.fsencode(inside)) > self._longest:
            self.unreadable[inside] = _TOO_LONG
            return []
        try:
            with os.scandir(os.path.join(self._root, inside, ".")) as entries:
                return list(entries)
        except OSError as error:
            if not inside or is_environment(error):
                raise
            self.unreadable[inside] = error.strerror or str(error)
            return []

    def _names_of(
        self, entry: os.DirEntry[str], name: str, above: tuple[str, ...]
    ) -> Iterator[str]:
        if not is_utf8(entry.name):
            self.not_utf8.append(name)
        elif entry.is_symlink():
            yield from self._behind_link(name, above)
        elif entry.is_file():
            yield name
        elif entry.is_dir():
            self._ahead.append((name + os.sep, above))

    def _behind_link(self, name: str, above: tuple[str, ...]) -> Iterator[str]:
        path = os.path.join(self._root, name)
        try:
            os.stat(path)
        except OSError as error:
            self.refused[name] = _LOOP if error.errno == errno.ELOOP else _BROKEN
            return
        if os.path.isfile(path):
            if self._follow or self._is_inside(path):
                yield name
            else:
                self.refused[name] = _OUTSIDE
        elif os.path.isdir(path):
            self._add_linked(name, path, above)

    def _add_linked(self, name: str, path: str, above: tuple[str, ...]) -> None:
        there, here = os.path.realpath(path), os.path.realpath(os.path.dirname(path))
        if not self._follow:
            self.refused[name] = _TO_FOLDER
        elif there in (self._real_root, *above) or _contains(there, here):
            self.refused[name] = _LOOP
        else:
            self._ahead.append((name + os.sep, (*above, there)))

    @cached_property
    def _real_root(self) -> str:
        return os.path.realpath(self._root)

    def _is_inside(self, path: str) -> bool:
        return _contains(self._real_root, os.path.realpath(path))


def _contains(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
