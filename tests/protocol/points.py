"""Points in the code of a run at which everything that it remembers is known.

Two histories of a run that come to the same point with the same values go on alike: the model keeps
one of them. So it does not matter in which steps a run saw what made no difference to it.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from protocol.world import Do, ModelStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.epoch_record import Results
from runtime.pipeline.manifest import Manifest

# These values are other objects, or are known by the point.
_LEFT_OUT = {"store", "files", "_kept", "_lease", "_lease_clock"}


def _place() -> tuple[tuple[str, int], ...]:
    """Where in the code of the run a point is."""
    found, frame = [], sys._getframe(1)
    while frame.f_back is not None and not frame.f_code.co_filename.endswith("explore.py"):
        found.append((frame.f_code.co_name, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


class PointedFiles(CheckpointFiles):
    """Calls `point` before it writes the file of a claim or a record."""

    def __init__(self, store: ModelStore, point: Callable[..., None]) -> None:
        super().__init__(store)  # type: ignore[arg-type]
        self._point = point

    def write(self, name: str, epoch: int, *parts: bytes | pa.Buffer) -> int:
        first_of_shared = self.store.shared and name.endswith(".owner")
        # Before its claim, a run on a shared store remembers the claims that it waited for.
        if name.startswith(("owners/", "epochs/")) and not first_of_shared:
            self._point(f"write {name}", b"".join(bytes(part) for part in parts))
        return super().write(name, epoch, *parts)


class PointedStore(CheckpointStore):
    def __init__(self, do: Do, store: ModelStore, run: str, **options: Any) -> None:
        super().__init__(store, run, **options)  # type: ignore[arg-type]
        self._do = do
        self.files = PointedFiles(store, self.point)
        self._current = b""  #: the manifest that it goes on from, or commits

    def point(self, name: str, *beside: Any) -> None:
        """`beside` is what its callers remember."""
        kept = sorted((record, sorted(needed)) for record, needed in self._kept.items())
        own = {key: value for key, value in vars(self).items() if key not in _LEFT_OUT | {"_do"}}
        lease = None if self._lease is None else self._lease_values()
        values = self.owner, sorted(own.items()), kept, lease, beside
        self._do("point", name, (_place(), pickle.dumps(values)))

    def _lease_values(self) -> Any:
        clock = self._lease_clock
        return [
            {key: value for key, value in vars(each).items() if isinstance(value, int | float)}
            for each in (self._lease, clock)
        ]

    def check_owner(self) -> None:
        super().check_owner()
        self.point("owner")

    def commit(self, manifest: Manifest, results: Results) -> None:
        self._current = manifest.to_bytes()
        super().commit(manifest, results)

    def _resume(self, warn: Callable[[str], None]) -> Manifest | None:
        self._current = b""
        self.point("resume")
        return super()._resume(warn)

    def _manifest(self, name: str) -> Manifest:
        manifest = super()._manifest(name)
        if not self._current:
            self._current = manifest.to_bytes()
        return manifest

    def _repair(self, name: str, warn: Callable[[str], None]) -> None:
        if self._current:
            self.point(f"repair {name}")
        super()._repair(name, warn)
