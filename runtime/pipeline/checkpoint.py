"""Commits the epochs of a job: writes their manifests and deletes state that is no longer needed.

Writing the manifest, after the state files that it names, commits the epoch.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable

from runtime.errors import HamletError
from runtime.pipeline.blob_store import BlobStore, is_unfinished
from runtime.pipeline.manifest import Manifest
from runtime.pipeline.state_segments import CorruptCheckpoint

# The last one, and one to fall back on if the last one is damaged.
KEPT = 2


class CheckpointStore:
    def __init__(self, folder: BlobStore) -> None:
        self.folder = folder
        self.run = uuid.uuid4().hex[:12]
        self.job = self.run  #: the first run's name, which the job keeps
        self._kept: dict[int, set[str]] = {}

    def open(self, warn: Callable[[str], None]) -> Manifest | None:
        """Takes over the folder from any other run. Returns the last undamaged epoch."""
        self.folder.create()
        if self.folder.exists("owner.json"):
            self.job = json.loads(self.folder.read("owner.json").to_pybytes())["job"]
        owner = {"run": self.run, "job": self.job}
        self.folder.write("owner.json", json.dumps(owner).encode())
        found = self._last_undamaged(warn)
        self._drop(self._unused())
        return found

    def last(self) -> Manifest | None:
        """The last undamaged epoch, without taking the folder over."""
        return self._last_undamaged(lambda told: None)

    def commit(self, manifest: Manifest) -> None:
        self._check_owner()
        self.folder.write(_name(manifest.epoch), manifest.to_bytes())
        self._kept[manifest.epoch] = manifest.files
        before = set().union(*self._kept.values())
        for epoch in sorted(self._kept)[:-KEPT]:
            del self._kept[epoch]
            self.folder.delete(_name(epoch))
        for name in before - set().union(*self._kept.values()):
            self.folder.delete(name)

    def _check_owner(self) -> None:
        owner = json.loads(self.folder.read("owner.json").to_pybytes())["run"]
        if owner != self.run:
            raise HamletError(
                f"another run has taken over the checkpoints in {self.folder.address}",
                "only one run at a time can continue from them",
            )

    def _last_undamaged(self, warn: Callable[[str], None]) -> Manifest | None:
        names = [name for name in self.folder.names("epochs") if name.endswith(".json")]
        last = None
        for name in reversed(names):
            try:
                found = Manifest.from_bytes(self.folder.read(name).to_pybytes(), name)
                if last is None:
                    self._check(found)
            except CorruptCheckpoint as error:
                if last is None:
                    warn(f"{error.message} in {self.folder.address}: using the epoch before")
                continue
            self._kept[found.epoch] = found.files
            last = last or found
        if names and last is None:
            raise HamletError(
                f"every checkpoint in {self.folder.address} is damaged",
                "start over with another --checkpoint folder",
            )
        return last

    def _check(self, manifest: Manifest) -> None:
        """Checks that every segment it names exists."""
        for saved in manifest.units.values():
            for segment in (saved.snapshot, *saved.log):
                if segment is not None:
                    segment.read(self.folder)

    def _unused(self) -> set[str]:
        """State of epochs that were never committed, damaged manifests, and files whose writer was
        killed."""
        used = {_name(epoch) for epoch in self._kept}.union(*self._kept.values())
        found = {*self.folder.names("epochs"), *self.folder.names("state")}
        begun = {name for name in self.folder.names() if is_unfinished(name)}
        return found - used | begun

    def _drop(self, names: set[str]) -> None:
        for name in names:
            self.folder.delete(name)


def _name(epoch: int) -> str:
    return f"epochs/{epoch:09d}.json"
