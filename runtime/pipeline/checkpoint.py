"""The commit protocol: who owns a checkpoint, when an epoch is committed, what may be deleted.

1. *Look.* A new run reads the newest record, checks its options against it, and writes nothing.
2. *Claim.* It writes a claim: a number above all others, and the name of the run. The highest claim
   owns the checkpoint. The run then looks for the newest record again, writes down that it goes on
   from it (its base), and looks for a higher claim. If there is one, it stops.
3. *Commit.* It writes the record of an epoch, which has the manifest and the results. Then it looks
   for a higher claim. If there is one, it stops.
4. *Publish.* Only now does the sink publish the results. The run then writes down that it did (a
   mark with the name of the record). Without the mark, the next run does the same again.
5. *Collect.* With the next epochs, files that the last two records do not need are deleted.

The order of steps 2 and 3 keeps runs apart without locks. Either the newer run claims before the
older one looks: then the older one stops and publishes nothing. Or the older one wrote its base or
its record before that: then the newer one finds it, since it reads after it claimed. All files have
the claim of their writer in their names, so no run overwrites a file of another. The newest record
is the last one of the highest claim; if that has none, its base; if it has no base either, the run
did nothing, and the next lower claim counts.

The store needs no rename and no lock: it writes whole files, and a listing has every file that was
written before. `docs/checkpoints.md` has the layout.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator

import pyarrow as pa

from runtime.errors import Failure, HamletError
from runtime.pipeline.blob_store import BlobStore, CorruptCheckpoint, PathConflict, parsing
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.checkpoint_names import (
    BASE,
    CLAIM,
    MARK,
    RECORD,
    STATE,
    claim_of,
    epoch_of,
    highest,
    is_higher,
    is_left_over,
    next_claim,
    record_order,
)
from runtime.pipeline.epoch_record import Results, pack, unpack_manifest, unpack_results
from runtime.pipeline.lease import SYSTEM_CLOCK, Lease, LeaseClock, await_end_of_leases
from runtime.pipeline.manifest import Manifest

# The last one, and one that a user can go back to by hand.
KEPT = 2

# What an older version of Hamlet wrote.
_OLD_FORMAT = "owner.json"


class OwnershipLost(Failure):
    """Another run has claimed the checkpoint."""


class CheckpointStore:
    def __init__(
        self, store: BlobStore, run: str | None = None, lease_clock: LeaseClock = SYSTEM_CLOCK
    ) -> None:
        self.store = store
        self.files = CheckpointFiles(store)
        self.run = run or uuid.uuid4().hex[:12]
        self.job = self.run  #: the first run's name, which the job keeps
        self.folders: dict[str, str] = {}  #: the names that the job's sink chose for queries
        self._kept: dict[str, set[str]] = {}
        self._newest_record = ""
        self._swept = False
        self._starts = 0  #: of aggregators
        self._lease: Lease | None = None
        self._lease_clock = lease_clock

    @property
    def owner(self) -> str:
        """The claim of this run; empty before it claims."""
        return self.files.owner

    def record_name(self, epoch: int) -> str:
        return f"epochs/{epoch:09d}-{self.owner}.epoch"

    def files_name(self, aggregator: int) -> str:
        """What a new start of an aggregator calls its files. The one before it may be cut off and
        still write: it must not replace a file that is committed."""
        self._starts += 1
        return f"{self.owner}-{aggregator}-{self._starts}"

    # ---- look ------------------------------------------------------------------------------

    def last(self) -> Manifest | None:
        """The manifest of the newest epoch. Writes nothing."""
        if self.store.exists(_OLD_FORMAT):
            raise HamletError(
                f"the checkpoint in {self.store.address} was written by an older version of Hamlet",
                "start over with a new --checkpoint folder",
            )
        before: list[str] = []
        while True:
            found = self._files_of_epochs()
            try:
                self._newest_record = self._newest() or ""
                return self._manifest(self._newest_record) if self._newest_record else None
            except PathConflict:
                raise
            except CorruptCheckpoint as error:
                # Its owner goes on meanwhile, and deletes what is old.
                if found == before:
                    raise self._unreadable(error) from error
                before = found

    def last_epoch(self) -> int:
        """The newest epoch; -1 if there is none."""
        manifest = self.last()
        return -1 if manifest is None else manifest.epoch

    def results(self, manifest: Manifest) -> Iterator[dict[str, pa.Table]]:
        """The results in its outbox, epoch by epoch."""
        for name in manifest.outbox:
            try:
                yield unpack_results(self.files.read(name), name)
            except CorruptCheckpoint:
                if self.owner:  # a run that has taken over may have deleted them
                    self.check_owner()
                raise

    def _files_of_epochs(self) -> list[str]:
        return [*self.files.names("owners"), *self.files.names("epochs")]

    def _newest(self) -> str | None:
        """The newest record."""
        claim, own = self._last_claim()
        return max(own, key=record_order) if own else self._base_of(claim)

    def _last_claim(self) -> tuple[str | None, list[str]]:
        """The highest claim that did something, and its records. Without records, it has a base."""
        bases = [match[1] for match in self._owned(BASE)]
        records = self._records()
        last = highest([*bases, *map(claim_of, records)])
        return last, [each for each in records if claim_of(each) == last]

    def _base_of(self, claim: str | None) -> str | None:
        if claim is None:
            return None
        name = f"owners/{claim}.base"
        data = self.files.read(name).to_pybytes()
        with parsing(name, "does not name a record"):
            base = json.loads(data)
            if base is None or RECORD.fullmatch(base):
                return base  # type: ignore[no-any-return]
            raise ValueError(f"it names {base!r:.100}")

    def _records(self) -> list[str]:
        return [name for name in self.files.names("epochs") if RECORD.fullmatch(name)]

    def _manifest(self, name: str) -> Manifest:
        """It names files of this checkpoint: what it names is read, and deleted later."""
        manifest = unpack_manifest(self.files.read(name), name)
        for pattern, names in ((RECORD, manifest.outbox), (STATE, manifest.state_files)):
            for each in names:
                if not pattern.fullmatch(each):
                    raise CorruptCheckpoint(
                        f"{name} names {each!r}, which is not a file of a checkpoint"
                    )
        return manifest

    # ---- claim -----------------------------------------------------------------------------

    def claim(
        self, warn: Callable[[str], None], say: Callable[[str], None] = lambda what: None
    ) -> Manifest | None:
        """Takes the checkpoint over from any other run. Returns the newest epoch."""
        self.store.create()
        earlier = self._claims()
        if self.store.shared:
            await_end_of_leases(self.store, earlier, say, clock=self._lease_clock)
        self.files.owner = next_claim(earlier, self.run)
        if self.store.shared:
            self._lease = self._new_lease()
        self.files.write(f"owners/{self.owner}.owner", -1, json.dumps({"run": self.run}).encode())
        if self.store.shared:
            self._await_missed(earlier, say)
        manifest = self._resume(warn)
        base = json.dumps(self._newest_record or None).encode()
        self.files.write(f"owners/{self.owner}.base", -1, base)
        self.check_owner()
        return manifest

    def _await_missed(self, awaited: set[str], say: Callable[[str], None]) -> None:
        """A listing from a cache may have missed a claim. Writing in a folder brings the cache up
        to date: also after each wait, for the records that were written meanwhile."""
        missed = None
        while missed is None or missed:
            for folder in ("owners", "epochs"):
                self.files.refresh(folder)
            missed = {each for each in self._claims() - awaited if is_higher(self.owner, each)}
            await_end_of_leases(self.store, missed, say, clock=self._lease_clock)
            awaited = awaited | missed

    def _new_lease(self) -> Lease:
        return Lease(self.store, self.owner, clock=self._lease_clock)

    def _claims(self) -> set[str]:
        """A claim may be lost, but not its number: all files have it."""
        return {match[1] for match in self._owned(CLAIM)} | {
            claim_of(each) for each in self._records()
        }

    def _owned(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        found = map(pattern.fullmatch, self.files.names("owners"))
        return [match for match in found if match is not None]

    def check_owner(self) -> None:
        """Raises if this run may not publish any more."""
        if any(is_higher(match[1], self.owner) for match in self._owned(CLAIM)):
            raise OwnershipLost(
                f"another run has taken over the checkpoints in {self.store.address}",
                "let that run continue, or stop it and start this command again",
            )
        if self._lease is not None:
            self._lease.check()

    def _resume(self, warn: Callable[[str], None]) -> Manifest | None:
        """The manifest of the newest record, with every file that it needs intact."""
        try:
            claim, own = self._last_claim()
            if claim is not None and not own:
                self._repair(f"owners/{claim}.base", warn)
            name = max(own, key=record_order) if own else self._base_of(claim)
            if name is None:
                return None
            manifest = self._manifest(name)
            needed = {name, *manifest.files}
            for each in sorted(needed):
                self._repair(each, warn)
        except PathConflict:
            raise
        except CorruptCheckpoint as error:
            raise self._unreadable(error) from error
        self._keep_previous(manifest.epoch)
        self._kept[name], self._newest_record = needed, name
        self.job, self.folders = manifest.job, manifest.folders
        return manifest

    def _repair(self, name: str, warn: Callable[[str], None]) -> None:
        for damaged in self.files.repair(name):
            warn(f"{damaged} in {self.store.address} was damaged: restored from its copy")

    def _unreadable(self, error: CorruptCheckpoint) -> CorruptCheckpoint:
        newest = max(self._records(), key=record_order, default="lost")
        return CorruptCheckpoint(
            f"the newest checkpoint in {self.store.address} cannot be read: {error.message}",
            "put an intact copy of the file back. To go back by one epoch instead, see "
            f"docs/checkpoints.md; the newest record is {newest}",
        )

    def _keep_previous(self, epoch: int) -> None:
        """The record before the newest one stays, if it is intact."""
        previous = [each for each in self._records() if epoch_of(each) == epoch - 1]
        name = max(previous, key=record_order, default=None)
        if name is not None:
            try:
                self._kept[name] = {name, *self._manifest(name).files}
            except CorruptCheckpoint:
                return

    # ---- commit ----------------------------------------------------------------------------

    def commit(self, manifest: Manifest, results: Results) -> None:
        """When this returns, the epoch is committed and its results may be published."""
        name = self.record_name(manifest.epoch)
        self.files.write(name, manifest.epoch, *pack(manifest, results))
        self.check_owner()
        self._kept[name], self._newest_record = {name, *manifest.files}, name
        self._collect()

    # ---- publish ---------------------------------------------------------------------------

    def is_published(self) -> bool:
        """Whether the results of the newest record are known to be published."""
        return any(self._marked(match[0]) == self._newest_record for match in self._owned(MARK))

    def mark_published(self) -> None:
        mark = self._newest_record.encode()
        self.files.write(f"owners/{self.owner}.published", -1, mark)

    def _marked(self, mark: str) -> str:
        try:
            return bytes(self.files.read(mark).to_pybytes()).decode(errors="replace")
        except CorruptCheckpoint:  # then it is not known
            return ""

    def close(self) -> None:
        if self._lease is not None:
            self._lease.release()

    # ---- collect ---------------------------------------------------------------------------

    def _collect(self) -> None:
        dropped: set[str] = set()
        for name in sorted(self._kept, key=epoch_of)[:-KEPT]:
            dropped |= self._kept.pop(name)
        needed = set().union(*self._kept.values())
        for name in sorted(dropped - needed):
            self.files.delete(name)
        if not self._swept:
            self._sweep(needed, max(map(epoch_of, self._kept)))
            self._swept = True

    def _sweep(self, needed: set[str], epoch: int) -> None:
        """Deletes what earlier runs left. Only now, after the first commit of this run, does
        nobody go on from their records."""
        for folder in (*self.files.copies, *(["leases"] if self.store.shared else [])):
            for name in self.store.names(folder):
                if name.partition("/")[2] not in needed and is_left_over(name, self.owner, epoch):
                    self.store.delete(name)

    def sweep_again(self) -> None:
        """Aggregators were started again: the next commit deletes what those before them wrote for
        epochs that are committed by then."""
        self._swept = False
