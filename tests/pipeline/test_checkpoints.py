"""Checkpoints: the newest epoch is found, nothing else is kept, and one run owns them."""

import shutil
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from pipeline.records import manifest_of, numbers
from protocol.shared_world import NoThread
from runtime.errors import EnvironmentFailure, Failure, HamletError
from runtime.pipeline.blob_store import BlobStore, CorruptCheckpoint
from runtime.pipeline.checkpoint import CheckpointStore, OwnershipLost
from runtime.pipeline.checkpoint_files import COPIES, CheckpointFiles
from runtime.pipeline.lease import LEASE_SECONDS, LeaseClock
from runtime.pipeline.local_folder import unfinished_name
from runtime.pipeline.manifest import Manifest
from runtime.pipeline.object_store import ObjectStore
from runtime.pipeline.state_segments import SavedUnit, Segment, SegmentWriter


@pytest.fixture
def disk(tmp_path: Path) -> BlobStore:
    return BlobStore(str(tmp_path / "checkpoint"))


@pytest.fixture
def bucket() -> BlobStore:
    """Objects in memory. Unlike a real store, Arrow's file system wants their folders to exist."""
    store = BlobStore("mock://bucket/checkpoint")
    objects = store._folder
    assert isinstance(objects, ObjectStore)
    for copy, folder in product(COPIES, ("owners", "epochs", "state")):
        objects._files.create_dir(objects._at(f"{copy}/{folder}"))
    objects._files.create_dir(objects._at("leases"))
    return store


@pytest.fixture(params=["disk", "bucket"])
def folder(request: pytest.FixtureRequest) -> BlobStore:
    """A bucket is shared, so its runs have leases."""
    store: BlobStore = request.getfixturevalue(request.param)
    return store


class PatientClock(LeaseClock):
    """No lease is renewed, and none runs out by itself. Whoever waits for one waits no time."""

    def __init__(self) -> None:
        self._time = 0.0

    def boottime(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return self._time

    def sleep(self, seconds: float) -> None:
        self._time += LEASE_SECONDS

    def start(self, run: Callable[[], None]) -> threading.Thread:
        return NoThread()


def opened(
    folder: BlobStore, run: str | None = None, clock: LeaseClock | None = None
) -> CheckpointStore:
    return CheckpointStore(folder, run, clock or PatientClock())


def claimed(folder: BlobStore, *said: str) -> tuple[CheckpointStore, Manifest | None]:
    """Claims the folder as a new run; it must warn of exactly this."""
    warned: list[str] = []
    checkpoints = opened(folder)
    found = checkpoints.claim(warned.append)
    assert len(warned) == len(said)
    assert all(part in warning for part, warning in zip(said, warned, strict=True))
    return checkpoints, found


def commit(checkpoints: CheckpointStore, epoch: int, before: SavedUnit | None = None) -> SavedUnit:
    """An epoch that logs a segment of its own after those before it, with one row of results."""
    writer = SegmentWriter(f"state/{epoch:09d}-{checkpoints.files_name(0)}-log.state", epoch)
    saved = (before or SavedUnit()).with_log(
        writer.add(pa.py_buffer(b"state of %d" % epoch), epoch)
    )
    writer.write(checkpoints.files)
    outbox = (checkpoints.record_name(epoch),)
    manifest = manifest_of(epoch, job=checkpoints.job, units={((), 0): saved}, outbox=outbox)
    checkpoints.commit(manifest, {"q": numbers(epoch), "empty": numbers()})
    return saved


def epochs(checkpoints: CheckpointStore, below: str) -> list[int]:
    return [int(name.split("/")[1][:9]) for name in checkpoints.files.names(below)]


def test_a_new_folder_has_none(folder: BlobStore) -> None:
    assert opened(folder).last() is None
    assert claimed(folder)[1] is None


def test_the_newest_one_is_found(folder: BlobStore) -> None:
    checkpoints, _ = claimed(folder)
    for epoch in range(3):
        commit(checkpoints, epoch)
    again, found = claimed(folder)
    assert found is not None
    assert (found.epoch, found.position) == (2, {"at": 2})
    assert again.job == checkpoints.job
    assert again.owner > checkpoints.owner


def test_results_are_committed_with_their_epoch(folder: BlobStore) -> None:
    checkpoints, _ = claimed(folder)
    commit(checkpoints, 0)
    found = opened(folder).last()
    assert found is not None
    assert list(opened(folder).results(found)) == [{"q": numbers(0)}]


def test_two_epochs_are_kept_and_the_files_that_they_name(folder: BlobStore) -> None:
    checkpoints, _ = claimed(folder)
    for epoch in range(4):
        commit(checkpoints, epoch)
    assert epochs(checkpoints, "epochs") == epochs(checkpoints, "state") == [2, 3]


def test_logs_are_kept_as_long_as_an_epoch_needs_them(folder: BlobStore) -> None:
    checkpoints, _ = claimed(folder)
    saved = None
    for epoch in range(4):
        saved = commit(checkpoints, epoch, saved)
    assert epochs(checkpoints, "state") == [0, 1, 2, 3]
    commit(checkpoints, 4)  # as with a snapshot
    assert epochs(checkpoints, "state") == [0, 1, 2, 3, 4]  # epoch 3 still needs the others
    commit(checkpoints, 5)
    assert epochs(checkpoints, "state") == [4, 5]


def test_results_are_kept_until_they_are_published(folder: BlobStore) -> None:
    checkpoints, _ = claimed(folder)
    outbox: tuple[str, ...] = ()
    for epoch in range(4):
        outbox += (checkpoints.record_name(epoch),)
        manifest = manifest_of(epoch, outbox=outbox, publishes=epoch == 3)
        checkpoints.commit(manifest, {"q": numbers(epoch)})
    assert [each["q"] for each in checkpoints.results(manifest)] == [numbers(n) for n in range(4)]
    for epoch in (4, 5):
        checkpoints.commit(manifest_of(epoch), {})
    assert epochs(checkpoints, "epochs") == [4, 5]


# ---- damage --------------------------------------------------------------------------------


def damage(folder: BlobStore, name: str, how: str) -> None:
    data = folder.read(name).to_pybytes()
    match how:
        case "cut":
            folder.write(name, data[: len(data) // 2])
        case "changed":
            folder.write(name, data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
        case "gone":
            folder.delete(name)


@pytest.mark.parametrize("how", ["cut", "changed", "gone"])
def test_any_file_may_be_damaged_and_nothing_is_lost(folder: BlobStore, how: str) -> None:
    """Also a log that both epochs need, and the newest record."""
    checkpoints, _ = claimed(folder)
    commit(checkpoints, 1, commit(checkpoints, 0))
    needed = [name for name in folder.names() if "/state/" in name or "/epochs/000000001" in name]
    assert len(needed) == 6
    for name in needed:
        before = folder.read(name)
        damage(folder, name, how)
        _, found = claimed(folder, f"{name} in {folder.address} was damaged: restored")
        assert found is not None
        assert found.epoch == 1
        assert folder.read(name).equals(before)


@pytest.mark.parametrize("how", ["cut", "changed"])
def test_both_copies_of_the_newest_one_are_damaged(folder: BlobStore, how: str) -> None:
    """Going back could lose what was read since, so the user decides. Nothing is deleted."""
    checkpoints, _ = claimed(folder)
    commit(checkpoints, 0)
    commit(checkpoints, 1)
    newest = checkpoints.record_name(1)
    for copy in "ab":
        damage(folder, f"{copy}/{newest}", how)
    before = {name: folder.read(name) for name in folder.names()}
    with pytest.raises(HamletError, match=r"newest checkpoint in .* cannot be read") as error:
        opened(folder).claim(pytest.fail)
    assert newest in str(error.value.hint)
    assert before.items() <= {name: folder.read(name) for name in folder.names()}.items()
    for name in folder.names():
        if newest in name or name.endswith(".base"):
            folder.delete(name)
    assert claimed(folder)[1].epoch == 0  # type: ignore[union-attr]


def test_a_damaged_claim_does_no_harm(folder: BlobStore) -> None:
    checkpoints, _ = claimed(folder)
    commit(checkpoints, 0)
    for name in folder.names("a/owners"):
        folder.write(name, b"")
    assert claimed(folder)[0].job == checkpoints.job


def test_a_manifest_that_names_files_elsewhere(folder: BlobStore, tmp_path: Path) -> None:
    """Whoever writes to the folder cannot make a run delete or read a file outside of it."""
    (tmp_path / "mine").write_text("mine")
    checkpoints, _ = claimed(folder)
    for epoch, outbox in enumerate([("../../mine",), (str(tmp_path / "mine"),), ()]):
        checkpoints.files.write(
            checkpoints.record_name(epoch),
            epoch,
            *_packed(manifest_of(epoch, outbox=outbox)),
        )
    assert claimed(folder)[1] is not None
    for epoch in range(2):
        checkpoints.files.delete(checkpoints.record_name(2 - epoch))
        for name in checkpoints.files.names("owners"):
            checkpoints.files.delete(name)
        with pytest.raises(HamletError, match="which is not a file of a checkpoint"):
            opened(folder).claim(pytest.fail)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("named", ["x/thesis.txt", "epochs/../x", "a/epochs/1", "state/notes.txt"])
def test_a_manifest_names_files_of_epochs_and_no_others(folder: BlobStore, named: str) -> None:
    checkpoints, _ = claimed(folder)
    unit = SavedUnit(Segment(named, 0, 0, 0))
    for manifest in (manifest_of(0, outbox=(named,)), manifest_of(0, units={((), 0): unit})):
        checkpoints.files.write(checkpoints.record_name(0), 0, *_packed(manifest))
        with pytest.raises(CorruptCheckpoint, match=r"names '.*', which is not a file of a checkp"):
            opened(folder).last()


def test_a_base_names_a_record_and_nothing_else(folder: BlobStore) -> None:
    checkpoints, _ = claimed(folder)
    checkpoints.files.write(f"owners/{checkpoints.owner}.base", -1, b'"x/thesis.txt"')
    with pytest.raises(CorruptCheckpoint, match="does not name a record"):
        opened(folder).last()


def _packed(manifest: Manifest) -> list[bytes | pa.Buffer]:
    from runtime.pipeline.epoch_record import pack

    return pack(manifest, {})


@pytest.mark.parametrize("use", ["last", "claim"])
def test_a_base_whose_copies_are_both_damaged(folder: BlobStore, use: str) -> None:
    """The environment failed; the user reads what to do, and nothing changes but for a claim."""
    first, _ = claimed(folder)
    commit(first, 0)
    second, _ = claimed(folder)
    base = f"owners/{second.owner}.base"
    for copy in "ab":
        damage(folder, f"{copy}/{base}", "cut")
    before = {name: folder.read(name) for name in folder.names()}
    again = opened(folder)
    with pytest.raises(
        EnvironmentFailure, match=r"newest checkpoint in .* cannot be read"
    ) as error:
        again.last() if use == "last" else again.claim(pytest.fail)
    assert base in error.value.message
    assert "docs/checkpoints.md" in str(error.value.hint)
    assert before.items() <= {name: folder.read(name) for name in folder.names()}.items()


@pytest.mark.parametrize("how", ["cut", "changed", "gone"])
def test_a_base_is_restored_from_its_copy(folder: BlobStore, how: str) -> None:
    first, _ = claimed(folder)
    commit(first, 0)
    second, _ = claimed(folder)
    name = f"a/owners/{second.owner}.base"
    before = folder.read(name)
    damage(folder, name, how)
    _, found = claimed(folder, f"{name} in {folder.address} was damaged: restored")
    assert found is not None
    assert folder.read(name).equals(before)


class SameFolder(BlobStore):
    """As another process sees the files."""

    def __init__(self, store: BlobStore) -> None:
        vars(self).update(vars(store))


class Busy(SameFolder):
    """Its owner commits whenever somebody reads a base, and deletes it."""

    owner: CheckpointStore | None = None

    def read(self, name: str, offset: int = 0, length: int | None = None) -> pa.Buffer:
        if self.owner is not None and name.endswith(".base"):
            owner, self.owner = self.owner, None
            owner.claim(pytest.fail)
            commit(owner, 1)
        return super().read(name, offset, length)


def test_a_base_that_goes_while_somebody_looks(folder: BlobStore) -> None:
    first, _ = claimed(folder)
    commit(first, 0)
    claimed(folder)
    busy = Busy(folder)
    busy.owner = opened(folder)
    found = opened(busy).last()
    assert found is not None
    assert found.epoch == 1


def test_damage_is_a_failure_of_the_environment_with_a_way_on(folder: BlobStore) -> None:
    checkpoints, _ = claimed(folder)
    saved = commit(checkpoints, 0)
    (name,) = saved.files
    for copy in "ab":
        damage(folder, f"{copy}/{name}", "gone")
    with pytest.raises(EnvironmentFailure) as error:
        checkpoints.files.read_range(name, 0, 1, 0)
    assert "docs/checkpoints.md" in str(error.value.hint)


def test_an_older_version_is_refused(folder: BlobStore) -> None:
    folder.write("owner.json", b"{}")
    with pytest.raises(HamletError, match="older version of Hamlet"):
        opened(folder).last()


# ---- owners --------------------------------------------------------------------------------


def test_looking_changes_nothing(folder: BlobStore) -> None:
    first, _ = claimed(folder)
    commit(first, 0)
    before = folder.names()
    assert opened(folder).last() is not None
    assert folder.names() == before
    commit(first, 1)


def test_a_run_that_was_replaced_publishes_nothing_more(folder: BlobStore) -> None:
    first, _ = claimed(folder)
    commit(first, 0)
    second, _ = claimed(folder)
    with pytest.raises(OwnershipLost, match="another run has taken over"):
        commit(first, 1)
    commit(second, 1)
    with pytest.raises(OwnershipLost):
        commit(first, 2)
    third, found = claimed(folder)
    assert found is not None
    assert found.epoch == 1
    assert list(third.results(found)) == [{"q": numbers(1)}]
    assert found.outbox == (second.record_name(1),)


def test_a_late_record_of_a_replaced_run_is_not_gone_on_from(folder: BlobStore) -> None:
    """The third run may have published what its base holds, before the second one wrote."""
    first, _ = claimed(folder)
    commit(first, 0)
    second, _ = claimed(folder)
    _, base = claimed(folder)
    with pytest.raises(OwnershipLost):
        commit(second, 1)
    _, found = claimed(folder)
    assert base is not None
    assert found is not None
    assert (found.epoch, found.outbox) == (0, base.outbox)


def test_a_claim_whose_file_is_lost_still_counts(folder: BlobStore) -> None:
    """A new run would have its number, and either could be the higher one."""
    first, _ = claimed(folder)
    second, _ = claimed(folder)
    second.files.delete(f"owners/{second.owner}.owner")
    with pytest.raises(OwnershipLost):
        commit(first, 0)
    third, _ = claimed(folder)
    assert third.owner[:9] > second.owner[:9]


def test_a_takeover_is_neither_an_error_nor_without_a_way_on(folder: BlobStore) -> None:
    first, _ = claimed(folder)
    claimed(folder)
    with pytest.raises(Failure, match="another run has taken over") as error:
        commit(first, 0)
    assert "stop it and start this command again" in str(error.value.hint)


def test_a_run_that_wakes_up_after_its_results_were_deleted(folder: BlobStore) -> None:
    """It was paused after its commit; meanwhile another run published them and went on."""
    first, _ = claimed(folder)
    commit(first, 0)
    found = first.last()
    assert found is not None
    second, _ = claimed(folder)
    for epoch in (1, 2, 3):
        commit(second, epoch)
    with pytest.raises(OwnershipLost):
        list(first.results(found))


def test_what_was_published_is_known_to_the_next_run(folder: BlobStore) -> None:
    first, _ = claimed(folder)
    commit(first, 0)
    assert not first.is_published()
    assert not claimed(folder)[0].is_published()
    first.mark_published()
    second, _ = claimed(folder)
    assert second.is_published()
    commit(second, 1)
    assert not second.is_published()


def test_of_two_claims_with_one_number_one_wins(folder: BlobStore) -> None:
    """A store without a conditional write lets both be written."""
    low, high = opened(folder, "0" * 12), opened(folder, "f" * 12)
    high.claim(pytest.fail)
    low.files.owner = f"{1:09d}-{low.run}"  # it looked before the other one claimed
    low.files.write(f"owners/{low.owner}.owner", -1, b"{}")
    with pytest.raises(OwnershipLost):
        commit(low, 0)
    commit(high, 0)


def test_what_earlier_runs_left_goes_with_the_first_commit(folder: BlobStore) -> None:
    first, _ = claimed(folder)
    commit(first, 0)
    left = f"state/000000001-{first.owner}-0-log.state"
    first.files.write(left, 1, b"of an epoch that was interrupted")
    folder.write(f"a/state/.000000001-{first.owner}-1-log.state.77.tmp", b"half")
    folder.write("a/state/notes.txt", b"of somebody else")
    second, _ = claimed(folder)
    ahead = f"state/000000002-{second.owner}-0-log.state"
    second.files.write(ahead, 2, b"of an epoch that is being computed")
    assert left in second.files.names("state")  # not yet: nothing replaces it
    commit(second, 1)
    names = folder.names()
    assert f"a/{left}" not in names
    assert not [name for name in names if name.endswith(".tmp")]
    assert {"a/state/notes.txt", f"a/{ahead}", f"b/{ahead}"} <= set(names)
    mine = [f"owners/{second.owner}.base", f"owners/{second.owner}.owner"]
    assert second.files.names("owners") == mine


def test_either_copy_is_enough_where_the_disk_does_not_give_the_other(disk: BlobStore) -> None:
    """A folder in the place of a file, or a bad sector: the system's error, not a damaged file."""
    first, _ = claimed(disk)
    commit(first, 0)
    (record,) = Path(disk.address).glob("a/epochs/*.epoch")
    record.unlink()
    record.mkdir()
    store = opened(disk)
    last = store.last()
    assert last is not None
    assert last.epoch == 0
    with pytest.raises(HamletError, match=r"cannot read .*/a/epochs"):
        store.files.store.read(str(record.relative_to(disk.address)))


@pytest.mark.parametrize("copy", ["a", "b"])
@pytest.mark.parametrize("below", ["", "/epochs", "/owners", "/state"])
def test_either_copy_is_enough_where_the_other_cannot_be_listed(
    disk: BlobStore, copy: str, below: str
) -> None:
    """A file in the place of its disk. To go on, a run needs both: it says which one is broken,
    and goes on when that is gone."""
    first, _ = claimed(disk)
    saved = commit(first, 0)
    place = Path(disk.address) / f"{copy}{below}"
    shutil.rmtree(place)
    place.write_text("")
    found = opened(disk).last()
    assert found is not None
    assert list(opened(disk).results(found)) == [{"q": numbers(0)}]
    with pytest.raises(CorruptCheckpoint, match=f"cannot .* {place}.*: Not a directory") as error:
        opened(disk).claim(pytest.fail)
    assert "remove what is in its place" in str(error.value.hint)
    place.unlink()
    again = opened(disk)
    assert again.claim(lambda damaged: None) == found
    commit(again, 1, saved)
    assert {name[2:] for name in disk.names("a")} == {name[2:] for name in disk.names("b")}


def test_a_folder_in_the_place_of_a_file_is_damage(disk: BlobStore) -> None:
    first, _ = claimed(disk)
    commit(first, 0)
    for copy in "ab":
        record = Path(disk.address) / copy / first.record_name(0)
        record.unlink()
        record.mkdir()
    with pytest.raises(CorruptCheckpoint, match="Is a directory"):
        opened(disk).files.read(first.record_name(0))


def test_neither_copy_can_be_listed(disk: BlobStore) -> None:
    first, _ = claimed(disk)
    commit(first, 0)
    for copy in "ab":
        shutil.rmtree(Path(disk.address) / copy)
        (Path(disk.address) / copy).write_text("")
    with pytest.raises(CorruptCheckpoint, match="cannot list"):
        opened(disk).last()


def test_a_link_in_one_copy_is_refused_all_the_same(disk: BlobStore, tmp_path: Path) -> None:
    first, _ = claimed(disk)
    commit(first, 0)
    (Path(disk.address) / "b" / "epochs").rename(tmp_path / "elsewhere")
    (Path(disk.address) / "b" / "epochs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CorruptCheckpoint, match="symbolic link"):
        opened(disk).last()


def test_the_root_of_a_checkpoint_that_is_a_file_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HamletError) as error:
            opened(BlobStore(str(path))).claim(pytest.fail)
        assert not isinstance(error.value, Failure)


# ---- claims --------------------------------------------------------------------------------


def test_a_run_goes_on_after_the_highest_claim_of_nine_digits(folder: BlobStore) -> None:
    """Somebody may have written it. What counts is the number, not how the text compares."""
    first, _ = claimed(folder)
    commit(first, 0)
    CheckpointFiles(folder).write(f"owners/999999999-{'f' * 12}.owner", -1, b"{}")
    with pytest.raises(OwnershipLost):
        commit(first, 1)
    second, found = claimed(folder)
    assert found is not None
    assert second.owner.startswith("1000000000-")
    commit(second, found.epoch + 1)
    third, found = claimed(folder)
    assert third.owner.startswith("1000000001-")
    assert found is not None
    commit(third, found.epoch + 1)
    with pytest.raises(OwnershipLost):
        commit(second, 9)
    names = third.files.names("owners")
    assert [name for name in names if third.owner not in name] == []


def test_a_claim_above_which_there_is_none(folder: BlobStore) -> None:
    first, _ = claimed(folder)
    commit(first, 0)
    files, highest = CheckpointFiles(folder), f"{'9' * 18}-{'f' * 12}"
    for name in (f"owners/{highest}.owner", f"epochs/000000001-{highest}.epoch"):
        files.write(name, -1, b"{}")
        with pytest.raises(CorruptCheckpoint, match="is not one of Hamlet") as error:
            opened(folder).claim(pytest.fail)
        assert highest in error.value.message
        assert f"delete the files with {highest} in their names" in str(error.value.hint)
        files.delete(name)
    assert claimed(folder)[1] is not None


def test_leading_zeros_make_no_higher_claim(folder: BlobStore) -> None:
    first, _ = claimed(folder)
    CheckpointFiles(folder).write(f"owners/0000000000000-{'f' * 12}.owner", -1, b"{}")
    commit(first, 0)


# ---- what is left --------------------------------------------------------------------------


def test_nothing_that_a_killed_run_did_not_finish_stays(folder: BlobStore) -> None:
    folder.shared = True
    first, _ = claimed(folder)
    commit(first, 0)
    first.close()
    unfinished = [
        f"leases/{unfinished_name(first.owner)}",
        f"a/owners/{unfinished_name(first.owner + '.owner')}",
        f"b/epochs/{unfinished_name(f'000000001-{first.owner}.epoch')}",
        f"a/state/{unfinished_name(f'000000001-{first.owner}-0-1-log.state')}",
        f"b/epochs/.{first.owner}.tmp",
    ]
    for name in unfinished:
        folder.write(name, b"half")
    second, _ = claimed(folder)
    commit(second, 1)
    second.close()
    assert not set(unfinished) & set(folder.names())
    assert [name for name in folder.names() if "/." in name or name.startswith(".")] == []


def test_what_aggregators_wrote_before_they_were_started_again_goes(folder: BlobStore) -> None:
    """A cut-off one may have written the state of an epoch that its successor computed again."""
    run, _ = claimed(folder)
    commit(run, 0)
    names = [f"state/{epoch:09d}-{run.files_name(0)}-log.state" for epoch in (1, 2)]
    for epoch, name in enumerate(names, 1):
        run.files.write(name, epoch, b"of the one that is cut off")
    assert run.files_name(0) not in names[0]
    run.sweep_again()
    saved = commit(run, 1)
    assert names[0] not in run.files.names("state")
    assert names[1] in run.files.names("state"), "of an epoch that may be computed now"
    commit(run, 2, saved)
    assert saved.files < set(run.files.names("state"))


# ---- a store that machines share -----------------------------------------------------------


class Cached(SameFolder):
    """Lists a folder from a cache until it writes there itself, as NFS does."""

    def __init__(self, store: BlobStore) -> None:
        super().__init__(store)
        self.shared = True
        self._listed: dict[str, list[str]] = {}

    def names(self, below: str = "") -> list[str]:
        return self._listed.setdefault(below, super().names(below))

    def write(self, name: str, *parts: bytes | pa.Buffer, replace: bool = False) -> int:
        self._forget(name)
        return super().write(name, *parts, replace=replace)

    def delete(self, name: str) -> None:
        self._forget(name)
        super().delete(name)

    def _forget(self, name: str) -> None:
        self._listed.pop(name.rpartition("/")[0], None)


def test_a_run_that_looked_before_the_last_commit_finds_it(folder: BlobStore) -> None:
    folder.shared = True
    first, _ = claimed(folder)
    commit(first, 0)
    second = opened(Cached(folder))
    assert second.last_epoch() == 0
    commit(first, 1)
    first.close()
    found = second.claim(pytest.fail)
    second.close()
    assert found is not None
    assert found.epoch == 1


class CommittingClock(PatientClock):
    """While somebody waits, the other run commits an epoch."""

    def __init__(self, commit: Callable[[], object]) -> None:
        super().__init__()
        self._commit = commit

    def sleep(self, seconds: float) -> None:
        if not self._time:
            self._commit()
        super().sleep(seconds)


def test_a_run_that_waits_after_its_claim_finds_what_was_committed_meanwhile(
    folder: BlobStore,
) -> None:
    """Two runs start at once, and one sees the other one late."""
    folder.shared = True
    first = opened(Cached(folder), "a" * 12)
    clock = CommittingClock(lambda: commit(first, 1))
    second = opened(Cached(folder), "b" * 12, clock)
    assert second.last() is None
    first.claim(pytest.fail)
    commit(first, 0)
    found = second.claim(pytest.fail)
    first.close()
    second.close()
    assert found is not None
    assert found.epoch == 1
