"""Lists the data files of an input folder, and the links in it that are not followed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from runtime.errors import InputError, os_failure
from runtime.io.formats import Format, by_name
from runtime.pipeline.blob_store import CorruptCheckpoint

_OUTSIDE = "it leads out of the folder; --follow-links follows it"
_TO_FOLDER = "it leads to a folder; --follow-links follows it"
_MAY_BE_CHANGED = (
    "something else may have changed the checkpoint, or the topic with the epochs of the sink"
)
_BROKEN, _LOOP = "it leads nowhere", "it leads in a circle"


@dataclass(frozen=True)
class FolderListing:
    """Names relative to the folder."""

    files: list[str]  #: data files, in order
    skipped: list[str] = field(default_factory=list)  #: files that are not data
    links: dict[str, str] = field(default_factory=dict)  #: links not followed, with the reason

    def warnings(self) -> Iterator[str]:
        for name, reason in self.links.items():
            yield f"the link {name} is skipped: {reason}"


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
    walk = _Walk(str(folder), follow_links)
    try:
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
    return FolderListing(files, skipped, dict(sorted(walk.refused.items())))


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
    parts = name.split(os.sep)
    return "\0" not in name and not any(part.startswith((".", "_")) or not part for part in parts)


class _Walk:
    def __init__(self, root: str, follow_links: bool) -> None:
        self._root = root
        self._follow = follow_links
        self.refused: dict[str, str] = {}

    def names(self, inside: str = "", above: tuple[str, ...] = ()) -> Iterator[str]:
        """`above` are the real paths of the folders on the way, if a link led here."""
        with os.scandir(os.path.join(self._root, inside)) as entries:
            for entry in entries:
                if entry.name.startswith((".", "_")):
                    continue
                name = inside + entry.name
                if entry.is_symlink():
                    yield from self._behind_link(name, above)
                elif entry.is_file():
                    yield name
                elif entry.is_dir():
                    yield from self.names(name + os.sep, above)

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
            yield from self._linked_folder(name, path, above)

    def _linked_folder(self, name: str, path: str, above: tuple[str, ...]) -> Iterator[str]:
        there, here = os.path.realpath(path), os.path.realpath(os.path.dirname(path))
        if not self._follow:
            self.refused[name] = _TO_FOLDER
        elif there in (self._real_root, *above) or _contains(there, here):
            self.refused[name] = _LOOP
        else:
            yield from self.names(name + os.sep, (*above, there))

    @cached_property
    def _real_root(self) -> str:
        return os.path.realpath(self._root)

    def _is_inside(self, path: str) -> bool:
        return _contains(self._real_root, os.path.realpath(path))


def _contains(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
